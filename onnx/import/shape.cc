// Reshapes and transposes, repetition, and sizes as values.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

void ConvertReshape(Node& n) {
  Value* x = n.In(0);
  Shape target;
  if (n.opset() >= 5) {
    target = n.SizesIn(1);
  } else {
    for (const int64_t size : n.Ints("shape")) target.emplace_back(size);
  }
  if (x == nullptr || n.failed()) return;
  const Shape& dims = x->type().dims;
  const bool zero_is_zero = n.Int("allowzero", 0) != 0;
  Dim known = 1;
  int rest = -1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i].is_constant(0) && !zero_is_zero) {
      if (i >= dims.size())
        return n.Fail("dim {0} is that of the input, which does not have it", i);
      target[i] = dims[i];
    }
    if (target[i].is_constant() && target[i].constant() < 0) {
      if (rest >= 0 || !target[i].is_constant(-1))
        return n.Fail("the shape has more than one -1, or another negative size");
      rest = static_cast<int>(i);
    } else {
      known = known * target[i];
    }
  }
  if (rest >= 0) {
    const Dim total = NumElements(dims);
    // If the known sizes are equal to the total, no division is needed.
    target[static_cast<size_t>(rest)] = total == known ? Dim(1) : Dim::FloorDiv(total, known);
    if (known.is_constant(0)) target[static_cast<size_t>(rest)] = 0;
  }
  n.Out(n.Reshape(x, target));
}

void ConvertFlatten(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const auto rank = static_cast<int64_t>(x->type().rank());
  int64_t axis = n.Int("axis", 1);
  if (axis < -rank || axis > rank) return n.Fail("axis {0} is outside", axis);
  if (axis < 0) axis += rank;
  const llvm::ArrayRef<Dim> dims = x->type().dims;
  const auto cut = static_cast<size_t>(axis);
  n.Out(n.Reshape(x, {NumElements(dims.take_front(cut)), NumElements(dims.drop_front(cut))}));
}

void ConvertSqueeze(Node& n) {
  Value* x = n.In(0);
  const bool as_input = n.opset() >= 13;
  std::vector<int64_t> axes =
      as_input ? (n.Has(1) ? n.IntsIn(1) : std::vector<int64_t>()) : n.Ints("axes");
  if (x == nullptr) return;
  if (axes.empty() && !(as_input ? n.Has(1) : n.HasAttribute("axes")))
    return n.Out(n.Call("squeeze", {x}));
  // Recurrent nodes return an axis of directions, which is usually squeezed right away.
  const Op* producer = x->producer();
  if (producer != nullptr && producer->type() == "unsqueeze" &&
      n.Axes(axes, x->type().rank()) ==
          n.Axes(producer->attributes().Ints("axes").vec(), x->type().rank()))
    return n.Out(producer->operands()[0]);
  n.Out(n.Call("squeeze", {x}, {{"axes", axes}}));
}

void ConvertUnsqueeze(Node& n) {
  Value* x = n.In(0);
  n.Out(n.Call("unsqueeze", {x}, {{"axes", n.opset() >= 13 ? n.IntsIn(1) : n.Ints("axes")}}));
}

void ConvertTranspose(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  std::vector<int64_t> perm = n.Ints("perm");
  if (perm.empty())
    for (unsigned i = x->type().rank(); i-- > 0;) perm.push_back(i);
  n.Out(n.Transpose(x, perm));
}

// x may be larger than the requested shape, since both sides are broadcast.
void ConvertExpand(Node& n) {
  Value* x = n.In(0);
  Shape target = n.SizesIn(1);
  if (x == nullptr || n.failed()) return;
  const Shape dims = x->type().dims;
  while (target.size() < dims.size()) target.insert(target.begin(), Dim(1));
  const size_t ahead = target.size() - dims.size();
  std::vector<int64_t> ones;  // axes whose size is 1 if there is an element
  for (size_t i = 0; i < dims.size(); ++i) {
    Dim& to = target[ahead + i];
    if (to.is_constant(1)) to = dims[i];
    if (to != dims[i] && !dims[i].is_constant() && dims[i].ProvablyAtMost(1))
      ones.push_back(static_cast<int64_t>(i));
  }
  if (!ones.empty())
    x = n.Call(
        "slice", {x},
        {{"axes", ones}, {"starts", Shape(ones.size(), 0)}, {"stops", Shape(ones.size(), 1)}});
  if (llvm::ArrayRef<Dim>(target) == llvm::ArrayRef<Dim>(dims)) return n.Out(x);
  n.Out(n.Call("broadcast_to", {x}, {{"dims", target}}));
}

void ConvertShape(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const llvm::ArrayRef<Dim> dims = x->type().dims;
  const auto rank = static_cast<int64_t>(dims.size());
  auto bound = [&](llvm::StringRef name, int64_t otherwise) {
    const int64_t at = n.Int(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = bound("start", 0);
  const int64_t end = std::max(start, bound("end", rank));
  n.Out(n.SizeValue(dims.slice(static_cast<size_t>(start), static_cast<size_t>(end - start))));
}

void ConvertSize(Node& n) {
  Value* x = n.In(0);
  if (x != nullptr) n.Out(n.Reshape(n.SizeValue({NumElements(x->type().dims)}), {}));
}

void ConvertTile(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  Shape repeats;
  if (n.opset() >= 6) {
    repeats = n.SizesIn(1);
  } else {
    repeats.assign(x->type().rank(), Dim(1));
    const unsigned axis = n.Axis(n.IntIn(2), x->type().rank());
    const Dim count = n.SizeIn(1);
    if (n.failed()) return;
    repeats[axis] = count;
  }
  n.Out(n.Call("tile", {x}, {{"repeats", repeats}}));
}

void ConvertDepthSpace(Node& n) {
  const std::string mode = n.String("mode", "DCR") == "CRD" ? "crd" : "dcr";
  n.Out(n.Call(n.op_type() == "DepthToSpace" ? "depth_to_space" : "space_to_depth", {n.In(0)},
               {{"block", n.Int("blocksize", 1)}, {"mode", mode}}));
}

void ConvertTrilu(Node& n) {
  Value* x = n.In(0);
  // A diagonal beyond those of any matrix.
  constexpr int64_t kFar = INT32_MAX;
  const int64_t k = std::clamp(n.Has(1) ? n.IntIn(1) : 0, -kFar, kFar);
  n.Out(n.Call(n.Int("upper", 1) != 0 ? "triu" : "tril", {x}, {{"k", k}}));
}

}  // namespace

llvm::ArrayRef<OnnxRule> ShapeRules() {
  static const OnnxRule kRules[] = {{"Reshape", ConvertReshape},
                                    {"Flatten", ConvertFlatten},
                                    {"Squeeze", ConvertSqueeze},
                                    {"Unsqueeze", ConvertUnsqueeze},
                                    {"Transpose", ConvertTranspose},
                                    {"Expand", ConvertExpand},
                                    {"Shape", ConvertShape},
                                    {"Size", ConvertSize},
                                    {"Tile", ConvertTile},
                                    {"DepthToSpace", ConvertDepthSpace},
                                    {"SpaceToDepth", ConvertDepthSpace},
                                    {"Trilu", ConvertTrilu}};
  return kRules;
}

}  // namespace pdl
