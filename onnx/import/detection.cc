// Detection of objects: bounding boxes.
#include <limits>

#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

/// The score of a box that is not selected.
constexpr double kGone = -std::numeric_limits<double>::infinity();

/// The edges of boxes along y and x, and their areas: each [N, 1, number of boxes].
struct Boxes {
  Value *top = nullptr, *left = nullptr, *bottom = nullptr, *right = nullptr, *area = nullptr;
};

Boxes ReadBoxes(Node& n, Value* boxes) {
  const std::vector<Value*> parts =
      n.CallAll("split", {n.Transpose(boxes, {0, 2, 1})}, {{"parts", 4}, {"axis", 1}});
  Boxes b;
  if (parts.size() != 4) return b;
  if (n.Int("center_point_box", 0) != 0) {  // x, y, width, height
    Value* half = n.Scalar(0.5, parts[0]);
    Value* x = n.Mul(parts[2], half);
    Value* y = n.Mul(parts[3], half);
    b.left = n.Sub(parts[0], x);
    b.right = n.Add(parts[0], x);
    b.top = n.Sub(parts[1], y);
    b.bottom = n.Add(parts[1], y);
  } else {  // two corners, in any order
    b.top = n.Call("minimum", {parts[0], parts[2]});
    b.bottom = n.Call("maximum", {parts[0], parts[2]});
    b.left = n.Call("minimum", {parts[1], parts[3]});
    b.right = n.Call("maximum", {parts[1], parts[3]});
  }
  b.area = n.Mul(n.Sub(b.bottom, b.top), n.Sub(b.right, b.left));
  return b;
}

/// Intersection over union of one box in each row, [N, C, 1], with all boxes.
Value* Overlap(Node& n, const Boxes& all, Value* index) {
  auto chosen = [&](Value* x) { return n.Call("take_along_axis", {x, index}, {{"axis", 2}}); };
  auto common = [&](Value* from, Value* to) {
    Value* length =
        n.Sub(n.Call("minimum", {to, chosen(to)}), n.Call("maximum", {from, chosen(from)}));
    return n.Call("relu", {length});
  };
  Value* both = n.Mul(common(all.top, all.bottom), common(all.left, all.right));
  return n.Div(both, n.Sub(n.Add(all.area, chosen(all.area)), both));
}

// Each step selects the best remaining box for each class of each image, and removes boxes that
// overlap it too much.
void ConvertNonMaxSuppression(Node& n) {
  Value* boxes = n.In(0);
  Value* scores = n.In(1);
  if (n.failed()) return;
  if (boxes->type().rank() != 3 || scores->type().rank() != 3)
    return n.Fail("boxes and scores must have 3 dims");
  const Dim most = n.Has(2) ? n.SizeIn(2) : Dim(0);
  if (n.failed()) return;
  const Dim count = scores->type().dims[2];
  const Dim steps = Dim::Max(Dim::Min(most, count), 0);
  const DType dtype = scores->type().dtype;
  Value* least = n.Has(4) ? n.Reshape(n.In(4), {}) : nullptr;
  Value* limit = n.Has(3) ? n.Reshape(n.In(3), {}) : n.Scalar(0, dtype);
  const Boxes all = ReadBoxes(n, boxes);
  if (least != nullptr)
    scores = n.Call("where", {n.Call("greater", {scores, least}), scores, n.Scalar(kGone, dtype)});
  Value* box_indices = n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{count}}});
  Node::Loop loop;
  loop.xs = {n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{steps}}})};
  loop.init = {scores};
  loop.names = {"step", "scores"};
  const std::vector<Value*> results = n.Scan(loop, [&](llvm::ArrayRef<Value*> given) {
    Value* left = given[1];
    Value* index = n.Call("argmax", {left}, {{"axis", 2}, {"keep", true}});
    Value* best = n.Call("take_along_axis", {left, index}, {{"axis", 2}});
    Value* drop = n.Call("logical_or", {n.Call("greater", {Overlap(n, all, index), limit}),
                                        n.Call("equal", {box_indices, index})});
    Value* next = n.Call("where", {drop, n.Scalar(kGone, dtype), left});
    auto squeezed = [&](Value* x) {
      return n.Call("squeeze", {x}, {{"axes", std::vector<int64_t>{2}}});
    };
    Value* is_left = n.Call("greater", {best, n.Scalar(kGone, dtype)});
    return std::vector<Value*>{next, squeezed(index), squeezed(is_left)};
  });
  if (n.failed()) return;
  n.importer().SuggestName(results[0], "best");
  Value* chosen = n.Transpose(results[0], {1, 2, 0});
  Value* found = n.Call("nonzero", {n.Transpose(results[1], {1, 2, 0})});
  Value* rows =
      n.Call("slice", {found},
             {{"axes", std::vector<int64_t>{1}}, {"starts", Shape{0}}, {"stops", Shape{2}}});
  Value* box = n.Call("unsqueeze", {n.Call("gather_nd", {chosen, found})},
                      {{"axes", std::vector<int64_t>{1}}});
  n.Out(n.Call("concat", {rows, box}, {{"axis", 1}}));
}

}  // namespace

llvm::ArrayRef<OnnxRule> DetectionRules() {
  static const OnnxRule kRules[] = {{"NonMaxSuppression", ConvertNonMaxSuppression}};
  return kRules;
}

}  // namespace pdl
