// Slicing, splitting, concatenation and padding.
#include <algorithm>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "onnx/import/bounds.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"
#include "onnx/model/shortest_number.h"

namespace pdl {
namespace {

constexpr int64_t kMaxParts = 65536;

/// Exporters write numbers close to the limits of integers for "up to the end", whatever the size.
bool IsEnd(const Dim& bound, const Dim& size) {
  return bound.is_constant() && bound.constant() > INT32_MAX - 1 && !size.is_constant();
}
bool IsBegin(const Dim& bound, const Dim& size) {
  return bound.is_constant() && bound.constant() < -INT32_MAX && !size.is_constant();
}

/// Larger than any axis. Bounds and steps are clamped to it so that sums and differences of them do
/// not overflow 64 bits.
constexpr int64_t kFar = int64_t{1} << 61;

Dim Tame(const Dim& bound) {
  return bound.is_constant() ? Dim(std::clamp(bound.constant(), -kFar, kFar)) : bound;
}

/// The index of a symbolic bound, counted from the front. A negative bound counts from the end;
/// invalid if the sign cannot be expressed.
Dim IndexOf(const Dim& bound, const Dim& size) {
  if (bound.ProvablyAtLeast(0)) return bound;
  // size - 1 is negative only if the size is 0.
  if (size - bound == Dim(1)) return LargerOf(0, bound);
  const Dim is_negative = Dim::Max(Dim::Min(Dim(0) - bound, 1), 0);
  return bound + size * is_negative;
}

/// A bound of a slice with a positive step: between 0 and the size.
Dim ForwardBound(const Dim& bound, const Dim& size) {
  if (IsEnd(bound, size)) return size;
  if (IsBegin(bound, size)) return 0;
  if (bound.is_constant() && bound.constant() < 0) return LargerOf(0, size + bound);
  const Dim index = bound.is_constant() ? bound : IndexOf(bound, size);
  const Dim least = LargerOf(0, index);
  return IsAtMost(least, size) ? least : Dim::Min(least, size);
}

/// A bound of a slice with a negative step, counted from the last element: between 0 and `most`.
Dim BackwardBound(const Dim& bound, const Dim& size, const Dim& most) {
  if (IsEnd(bound, size)) return 0;
  if (IsBegin(bound, size)) return most;
  const Dim index = bound.is_constant() && bound.constant() < 0
                        ? Dim(-1) - bound
                        : size - 1 - (bound.is_constant() ? bound : IndexOf(bound, size));
  const Dim least = LargerOf(0, index);
  return IsAtMost(least, most) ? least : Dim::Min(least, most);
}

void ConvertSlice(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const Shape& dims = x->type().dims;
  Shape starts, stops;
  std::vector<int64_t> axes, steps;
  if (n.opset() >= 10) {
    starts = n.SizesIn(1);
    stops = n.SizesIn(2);
    if (n.Has(3)) axes = n.IntsIn(3);
    if (n.Has(4)) steps = n.IntsIn(4);
  } else {
    for (const int64_t at : n.Ints("starts")) starts.emplace_back(at);
    for (const int64_t at : n.Ints("ends")) stops.emplace_back(at);
    axes = n.Ints("axes");
  }
  if (n.failed()) return;
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (stops.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return n.Fail("starts, ends, axes and steps have different lengths");
  axes = n.Axes(axes, dims.size());
  // Negative steps become positive steps over the reversed axis.
  std::vector<int64_t> reversed, taken_axes, taken_steps;
  Shape from, to;
  for (size_t i = 0; i < axes.size() && !n.failed(); ++i) {
    const Dim size = dims[static_cast<size_t>(axes[i])];
    const bool is_backward = steps[i] < 0;
    if (steps[i] == 0) return n.Fail("a step of 0");
    steps[i] = std::clamp(steps[i], -kFar, kFar);
    // With a negative step, the slice starts at an element, and may end before the first one.
    const Dim begin = Tame(starts[i]), end = Tame(stops[i]);
    const Dim start =
        is_backward ? BackwardBound(begin, size, LargerOf(0, size - 1)) : ForwardBound(begin, size);
    Dim stop = is_backward ? BackwardBound(end, size, size) : ForwardBound(end, size);
    // The slice is empty for some sizes.
    stop = LargerOf(start, stop);
    if (!start.is_valid() || !stop.is_valid()) return n.Unsupported("bounds that depend on sizes");
    if (is_backward) reversed.push_back(axes[i]);
    if (start.is_constant(0) && stop == size && std::abs(steps[i]) == 1) continue;
    taken_axes.push_back(axes[i]);
    taken_steps.push_back(std::abs(steps[i]));
    from.push_back(start);
    to.push_back(stop);
  }
  if (!reversed.empty()) x = n.Call("flip", {x}, {{"axes", reversed}});
  if (!taken_axes.empty()) {
    std::vector<NamedAttribute> attributes = {
        {"axes", taken_axes}, {"starts", from}, {"stops", to}};
    if (llvm::any_of(taken_steps, [](int64_t step) { return step != 1; }))
      attributes.push_back({"steps", taken_steps});
    x = n.Call("slice", {x}, attributes);
  }
  n.Out(x);
}

std::vector<Value*> SplitInto(Node& n, Value* x, llvm::ArrayRef<Dim> sizes, unsigned axis) {
  return n.CallAll("split", {x}, {{"sizes", Shape(sizes)}, {"axis", static_cast<int64_t>(axis)}});
}

void ConvertSplit(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned axis = n.Axis(n.Int("axis", 0), x->type().rank());
  if (n.failed()) return;
  const Dim size = x->type().dims[axis];
  Shape sizes;
  const bool as_input = n.opset() >= 13;
  if (as_input && n.Has(1)) {
    sizes = n.SizesIn(1);
  } else if (!as_input && n.HasAttribute("split")) {
    for (const int64_t part : n.Ints("split")) sizes.emplace_back(part);
  } else {
    const int64_t parts = n.Int("num_outputs", n.num_outputs());
    if (parts < 1 || parts > kMaxParts) return n.Fail("{0} parts", parts);
    // All parts have the same size, rounded up, until there are no more elements.
    const Dim whole = Dim::FloorDiv(size + (parts - 1), parts);
    Dim begin = 0;
    for (int64_t i = 1; i <= parts; ++i) {
      const Dim end = i == parts ? size : i == 1 ? whole : Dim::Min(i * whole, size);
      sizes.push_back(end - begin);
      begin = end;
    }
  }
  if (n.failed()) return;
  if (sizes.size() != n.num_outputs())
    return n.Fail("{0} parts for {1} outputs", sizes.size(), n.num_outputs());
  const std::vector<Value*> parts = SplitInto(n, x, sizes, axis);
  for (size_t i = 0; i < parts.size(); ++i) n.Out(static_cast<unsigned>(i), parts[i]);
}

void ConvertSplitToSequence(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned axis = n.Axis(n.Int("axis", 0), x->type().rank());
  if (n.failed()) return;
  const Dim size = x->type().dims[axis];
  Shape sizes;
  bool keep = true;
  if (n.Has(1) && n.In(1) != nullptr && n.In(1)->type().rank() == 1) {
    sizes = n.SizesIn(1);
  } else {
    const int64_t part = n.Has(1) ? n.IntIn(1) : 1;
    keep = n.Has(1) || n.Int("keepdims", 1) != 0;
    if (n.failed()) return;
    if (!size.is_constant() || part < 1) return n.Unsupported("an unknown number of parts");
    if (size.constant() / part > kMaxParts) return n.Unsupported("more than {0} parts", kMaxParts);
    for (int64_t rest = size.constant(); rest > 0; rest -= std::min(part, rest))
      sizes.emplace_back(std::min(part, rest));
  }
  if (n.failed()) return;
  if (sizes.empty()) return n.SequenceOut(0, {});
  std::vector<Value*> parts = SplitInto(n, x, sizes, axis);
  if (!keep)
    for (Value*& part : parts)
      part = n.Call("squeeze", {part}, {{"axes", std::vector<int64_t>{axis}}});
  n.SequenceOut(0, parts);
}

void ConvertConcat(Node& n) {
  const std::vector<Value*> all = n.AllIn();
  if (all.empty()) return n.Fail("it has no inputs");
  const int64_t axis = n.Int("axis", 1);
  n.Out(all.size() == 1 ? all[0] : n.Call("concat", all, {{"axis", axis}}));
}

void ConvertConcatFromSequence(Node& n) {
  const std::vector<Value*> all = n.SequenceIn(0);
  if (n.failed()) return;
  if (all.empty()) return n.Fail("the list is empty");
  const bool is_new = n.Int("new_axis", 0) != 0;
  n.Out(n.Call(is_new ? "stack" : "concat", all, {{"axis", n.Int("axis", 0)}}));
}

void ConvertPad(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  Shape pads;
  if (n.opset() >= 11) {
    pads = n.SizesIn(1);
  } else {
    const llvm::StringRef name = n.opset() < 2 ? "paddings" : "pads";
    for (const int64_t pad : n.Ints(name)) pads.emplace_back(pad);
  }
  std::vector<int64_t> axes;
  if (n.Has(3)) {
    axes = n.Axes(n.IntsIn(3), x->type().rank());
  } else {
    for (unsigned i = 0; i < x->type().rank(); ++i) axes.push_back(i);
  }
  if (n.failed()) return;
  if (pads.size() != 2 * axes.size()) return n.Fail("pads are required for each of the axes");
  double value = n.Float("value", 0);
  if (n.opset() >= 11) value = n.Has(2) ? ShortestNumber(n.RealIn(2), x->type().dtype) : 0;
  const llvm::ArrayRef<Dim> all(pads);
  n.Out(n.Call("pad", {x},
               {{"before", Shape(all.take_front(axes.size()))},
                {"after", Shape(all.drop_front(axes.size()))},
                {"axes", axes},
                {"mode", n.String("mode", "constant")},
                {"value", value}}));
}

void ConvertCenterCropPad(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const Shape expected = n.SizesIn(1);
  std::vector<int64_t> axes = n.Axes(n.Ints("axes"), x->type().rank());
  if (axes.empty())
    for (unsigned i = 0; i < x->type().rank(); ++i) axes.push_back(i);
  if (n.failed()) return;
  if (expected.size() != axes.size()) return n.Fail("a size for each axis is required");
  Shape before, after;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& size = x->type().dims[static_cast<size_t>(axes[i])];
    if (!size.is_constant() || !expected[i].is_constant())
      return n.Unsupported("a margin of unknown size");
    if (expected[i].constant() < 0) return n.Fail("a size is negative");
    const int64_t more = expected[i].constant() - size.constant();
    // If the number is odd, the larger part is at the end.
    const int64_t first = more >= 0 ? more / 2 : -((-more) / 2);
    before.emplace_back(first);
    after.emplace_back(more - first);
  }
  n.Out(n.Call("pad", {x}, {{"before", before}, {"after", after}, {"axes", axes}}));
}

}  // namespace

llvm::ArrayRef<OnnxRule> SliceRules() {
  static const OnnxRule kRules[] = {{"Slice", ConvertSlice},
                                    {"Split", ConvertSplit},
                                    {"SplitToSequence", ConvertSplitToSequence},
                                    {"Concat", ConvertConcat},
                                    {"ConcatFromSequence", ConvertConcatFromSequence},
                                    {"Pad", ConvertPad},
                                    {"CenterCropPad", ConvertCenterCropPad}};
  return kRules;
}

}  // namespace pdl
