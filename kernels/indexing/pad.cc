// Operators that map each axis of the result to the input: pad, flip, roll, tile.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/strided_copy.h"
#include "kernels/indexing/make_axis_maps.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// --- The kernel ---------------------------------------------------------------------------------

// Adjacent indices [begin, end) of the result along an axis, which are read from index `from` of
// the input on, with step `step` (1, 0 or -1); filled if from < 0.
struct AxisRun {
  int64_t begin = 0, end = 0;
  int64_t from = 0, step = 0;
};

// The run that begins at index `i` of an axis of `length` elements.
AxisRun RunAt(const AxisMap& map, int64_t i, int64_t length) {
  const int64_t at = i - map.shift;
  if (map.rule == AxisRule::kFlip) return {i, length, map.start + map.size - 1 - at, -1};
  if (at >= 0 && at < map.size)
    return {i, std::min<int64_t>(length, i + map.size - at), map.start + at, 1};
  // Before or after the copied range.
  const int64_t end = at < 0 ? std::min<int64_t>(length, map.shift) : length;
  if (map.rule == AxisRule::kFill) return {i, end, -1, 0};
  const int64_t from = map.SourceOf(i);
  if (map.rule == AxisRule::kEdge || map.size == 1) return {i, end, from, 0};
  const bool is_wrapped = map.rule == AxisRule::kWrap;
  const int64_t period = is_wrapped ? map.size : 2 * map.size - 2;
  const int64_t phase = (at % period + period) % period;
  // A mirrored axis is read forward up to its last element, and backward from there.
  const bool is_forward = is_wrapped || phase < map.size - 1;
  const int64_t turn = is_wrapped || !is_forward ? period : map.size - 1;
  return {i, std::min(end, i + turn - phase), from, is_forward ? 1 : -1};
}

// The run after `run`, which does not end the axis.
AxisRun NextRun(const AxisMap& map, const AxisRun& run, int64_t length) {
  // Repeated copies each begin at the first element: no division is needed.
  if (map.rule == AxisRule::kWrap && map.size > 1 && run.end >= map.shift)
    return {run.end, std::min<int64_t>(length, run.end + map.size), map.start, 1};
  return RunAt(map, run.end, length);
}

struct MapState : CallState {
  // A mapped axis before the innermost mapped one.
  struct Outer {
    AxisMap map;
    int64_t length = 0;
    int64_t stride = 0;  // of the input, in elements
  };
  llvm::SmallVector<Outer, 4> outer;
  // The innermost mapped axis, each index of which has `inner` adjacent elements; `length` is its
  // size in the result.
  AxisMap map;
  // All runs of that axis if they are few; else empty, and runs are computed during the copy.
  llvm::SmallVector<AxisRun, 4> runs;
  int64_t rows = 1, length = 1, inner = 1;
  uint64_t fill = 0;
};

constexpr size_t kMaxKeptRuns = 1024;

void KeepRuns(MapState* state) {
  for (int64_t at = 0; at < state->length; at = state->runs.back().end) {
    if (state->runs.size() == kMaxKeptRuns) return state->runs.clear();
    state->runs.push_back(RunAt(state->map, at, state->length));
  }
}

// Calls use(run, first, last) for the parts of runs that cover the indices [first, last).
template <class Use>
PDL_INLINE void ForEachRun(const MapState& s, int64_t first, int64_t last, Use use) {
  if (s.runs.empty()) {
    for (AxisRun run = RunAt(s.map, first, s.length);; run = NextRun(s.map, run, s.length)) {
      const int64_t high = std::min(last, run.end);
      use(run, first, high);
      if (high == last) return;
      first = high;
    }
  }
  const AxisRun* run = s.runs.begin();
  if (first > 0)
    run = std::partition_point(run, s.runs.end(), [&](const AxisRun& r) { return r.end <= first; });
  for (;; ++run) {
    const int64_t high = std::min(last, run->end);
    use(*run, first, high);
    if (high == last) return;
    first = high;
  }
}

// Iterates over the indices of the outer axes in row-major order.
class OuterPosition {
 public:
  OuterPosition(const MapState& state, int64_t row) : axes_(state.outer) {
    index_.resize(axes_.size());
    offset_.resize(axes_.size());
    for (size_t axis = axes_.size(); axis-- > 0; row /= axes_[axis].length)
      Set(axis, row % axes_[axis].length);
  }

  void Next() {
    for (size_t axis = axes_.size(); axis-- > 0;) {
      if (index_[axis] + 1 < axes_[axis].length) return Set(axis, index_[axis] + 1);
      Set(axis, 0);
    }
  }

  /// The offset of the input row that is read, in elements; -1 if the row is filled.
  int64_t offset() const { return num_filled_ > 0 ? -1 : sum_; }

 private:
  void Set(size_t axis, int64_t index) {
    index_[axis] = index;
    const int64_t position = axes_[axis].map.SourceOf(index);
    const int64_t old = offset_[axis], offset = position < 0 ? -1 : position * axes_[axis].stride;
    offset_[axis] = offset;
    num_filled_ += static_cast<int>(offset < 0) - static_cast<int>(old < 0);
    sum_ += std::max<int64_t>(offset, 0) - std::max<int64_t>(old, 0);
  }

  llvm::ArrayRef<MapState::Outer> axes_;
  // For each axis the index, and the offset that is read there or -1; and the sum of the offsets.
  llvm::SmallVector<int64_t, 4> index_, offset_;
  int64_t sum_ = 0;
  int num_filled_ = 0;
};

template <class Bits>
void CopyRun(const Bits* in, const AxisRun& run, int64_t begin, int64_t end, int64_t inner,
             Bits fill, Bits* __restrict out) {
  const int64_t n = end - begin;
  if (in == nullptr || run.from < 0) {
    std::fill_n(out, n * inner, fill);
    return;
  }
  const Bits* from = in + (run.from + (begin - run.begin) * run.step) * inner;
  if (run.step == 1 || n == 1) {
    std::memcpy(out, from, static_cast<size_t>(n * inner) * sizeof(Bits));
  } else if (inner == 1) {
    if (run.step == 0) {
      std::fill_n(out, n, *from);
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = from[-i];
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(out + i * inner, from + i * run.step * inner,
                  static_cast<size_t>(inner) * sizeof(Bits));
    }
  }
}

// Writes indices [begin, end) of the result, counted over all rows.
template <class Bits>
void CopyPositions(const MapState& s, const Bits* in, int64_t begin, int64_t end, Bits* out) {
  OuterPosition row(s, begin / s.length);
  int64_t first = begin % s.length;
  out += begin * s.inner;
  for (;;) {
    const int64_t last = std::min(s.length, first + end - begin);
    const int64_t offset = row.offset();
    const Bits* from = offset < 0 ? nullptr : in + offset;
    begin += last - first;
    ForEachRun(s, first, last, [&](const AxisRun& run, int64_t low, int64_t high) {
      CopyRun(from, run, low, high, s.inner, static_cast<Bits>(s.fill), out);
      out += (high - low) * s.inner;
    });
    if (begin == end) return;
    first = 0;
    row.Next();
  }
}

// The size of the state depends only on the number of axes, plus a bounded number of runs.
std::shared_ptr<MapState> MakeState(const AxisMaps& maps, uint64_t fill) {
  auto state = std::make_shared<MapState>();
  state->fill = fill;
  size_t last = maps.axes.size();
  while (last > 0 && maps.is_identity(last - 1)) state->inner *= maps.to[--last];
  if (last == 0) {
    state->map.size = 1;
    KeepRuns(state.get());
    return state;
  }
  --last;
  state->length = maps.to[last];
  state->map = maps.axes[last];
  KeepRuns(state.get());
  const auto strides = RowMajorStrides(maps.from);
  for (size_t axis = 0; axis < last; ++axis) {
    state->rows *= maps.to[axis];
    state->outer.push_back({maps.axes[axis], maps.to[axis], strides[axis]});
  }
  return state;
}

using MapFunction = llvm::Expected<AxisMaps> (*)(const AttributeReader&, const PrepareContext&);

template <class Context, MapFunction kMaps>
class MapOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto maps = kMaps(this->attributes(), context);
    if (!maps) return maps.takeError();
    Preparation preparation;
    if (maps->is_identity()) preparation.aliases.push_back({0, 0});
    if (context.outputs()[0].num_elements() == 0) return preparation;
    maps->Collapse();
    preparation.state = MakeState(*maps, FillBits(context.outputs()[0].dtype));
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const MapState& s = *context.template state<MapState>();
    const auto run = [&](auto zero) {
      using Bits = decltype(zero);
      const int64_t bytes = s.inner * static_cast<int64_t>(sizeof(Bits));
      const int64_t grain = std::max<int64_t>(1, kGrainBytes / bytes);
      context.ParallelFor(s.rows * s.length, grain, [&](int64_t begin, int64_t end) {
        CopyPositions(s, static_cast<const Bits*>(inputs[0]->raw()), begin, end,
                      static_cast<Bits*>(outputs[0]->raw()));
      });
    };
    VisitBits(outputs[0]->dtype(), run);
    return llvm::Error::success();
  }

 private:
  // The bytes of the attribute `value` converted to an element.
  uint64_t FillBits(DType dtype) const {
    uint64_t bits = 0;
    if (this->attributes().Find("value") == nullptr) return bits;
    const double value = this->attributes().Float("value");
    VisitDType(AnyTypes(), dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T element = Element<T>::Store(static_cast<ComputeType<T>>(value));
      std::memcpy(&bits, &element, sizeof(element));
    });
    return bits;
  }
};

template <class Context>
using PadOp = MapOp<Context, PadMaps>;
template <class Context>
using FlipOp = MapOp<Context, FlipMaps>;
template <class Context>
using RollOp = MapOp<Context, RollMaps>;
template <class Context>
using TileOp = MapOp<Context, TileMaps>;

// --- pad ----------------------------------------------------------------------------------------

// Whether an element of that dtype can represent the value.
bool Holds(DType dtype, double value) {
  bool holds = false;
  VisitDType(AnyTypes(), dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      holds = value >= static_cast<double>(std::numeric_limits<T>::min()) &&
              value < std::ldexp(1.0, std::numeric_limits<T>::digits) && value == std::floor(value);
    } else {
      holds = true;
    }
  });
  return holds;
}

// Requires that `attribute`, which has `got` entries, has one for each of the `expected` axes.
llvm::Error CheckCount(InferenceContext& context, llvm::StringRef attribute, size_t got,
                       size_t expected) {
  if (got == expected) return llvm::Error::success();
  return context.FailAtAttribute(attribute, Code::kShapeMismatch,
                                 "'{0}' must have one entry for each of the {1} axes, got {2}",
                                 attribute, expected, got);
}

llvm::Error InferPad(InferenceContext& context) {
  const Type& x = context.input(0);
  const AttributeReader& attributes = context.attributes();
  auto axes = context.NormalizeAxes("axes", x.rank());
  if (!axes) return axes.takeError();
  const Shape& before = attributes.Dims("before");
  const Shape& after = attributes.Dims("after");
  if (llvm::Error error = CheckCount(context, "before", before.size(), axes->size())) return error;
  if (llvm::Error error = CheckCount(context, "after", after.size(), axes->size())) return error;
  const bool fills = attributes.String("mode") == "constant";
  const double value = attributes.Float("value");
  if (fills && !Holds(x.dtype, value)) {
    return context.FailAtAttribute("value", Code::kAttributeRange,
                                   "{0} cannot represent the value {1}", DTypeName(x.dtype), value);
  }
  Type type = x;
  if (fills && value != 0) type.index_bound.reset();
  for (size_t i = 0; i < before.size(); ++i) {
    const size_t axis = detail::AxisOf(attributes, i, x.rank());
    const Dim& size = x.dims[axis];
    const Dim left = size + Dim::Min(before[i], 0) + Dim::Min(after[i], 0);
    if (left.ProvablyAtMost(-1)) {
      const bool is_front = (size + Dim::Min(before[i], 0)).ProvablyAtMost(-1);
      return context.FailAtAttribute(is_front ? "before" : "after", Code::kAxis,
                                     "more elements are removed than axis {0} of {1} has", axis,
                                     x.ToString());
    }
    const bool may_grow = !(before[i].ProvablyAtMost(0) && after[i].ProvablyAtMost(0));
    const bool needs_element = !fills && may_grow;
    if (llvm::Error error =
            context.RequireAtLeast(left, needs_element ? 1 : 0, {0},
                                   needs_element ? "there are no elements to pad with"
                                                 : "more elements are removed than there are")) {
      return error;
    }
    type.dims[axis] = size + before[i] + after[i];
  }
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

Shape Negative(llvm::ArrayRef<Dim> dims) {
  Shape negative;
  for (const Dim& dim : dims) negative.push_back(Dim(0) - dim);
  return negative;
}

Value* Number(GradientContext& g, const Dim& dim) {
  return g.Call("size", {}, {{"dims", Shape{dim}}});
}

// The input indices that `mode` reads for the indices [-before, size + after) of an axis.
Value* SourcePositions(GradientContext& g, llvm::StringRef mode, const Dim& size, const Dim& before,
                       const Dim& after) {
  Value* at = g.Call("range", {}, {{"start", Shape{0 - before}}, {"stop", Shape{size + after}}});
  if (mode == "wrap") return g.Call("mod", {at, Number(g, size)});
  Value* last = Number(g, size - 1);
  if (mode == "edge") {
    return g.Call("minimum", {g.Call("maximum", {at, Number(g, 0)}), last});
  }
  Value* period = Number(g, Dim::Max(size * 2 - 2, 1));
  Value* distance = g.Call("mod", {at, period});
  return g.Call("minimum", {distance, g.Sub(period, distance)});
}

void PadGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype)) return;
  const Shape& before = g.attributes().Dims("before");
  const Shape& after = g.attributes().Dims("after");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < before.size(); ++i) {
    axes.push_back(static_cast<int64_t>(detail::AxisOf(g.attributes(), i, x.rank())));
  }
  const llvm::StringRef mode = g.attributes().String("mode");
  Value* dx = g.output_gradient();
  if (mode == "constant") {
    g.SetInputGradient(
        0, g.Call("pad", {dx},
                  {{"before", Negative(before)}, {"after", Negative(after)}, {"axes", axes}}));
    return;
  }
  // One axis at a time: elements that were read more than once get the sum, removed ones get zeros.
  for (size_t i = 0; i < axes.size() && dx != nullptr; ++i) {
    const Dim front = Dim::Min(before[i], 0), back = Dim::Min(after[i], 0);
    const Dim grown_front = Dim::Max(before[i], 0), grown_back = Dim::Max(after[i], 0);
    if (!grown_front.is_constant(0) || !grown_back.is_constant(0)) {
      Shape dims = dx->type().dims;
      const Dim left = x.dims[static_cast<size_t>(axes[i])] + front + back;
      dims[static_cast<size_t>(axes[i])] = left;
      Value* zeros = g.Call("zeros", {}, {{"dims", dims}, {"dtype", x.dtype}});
      Value* positions = SourcePositions(g, mode, left, grown_front, grown_back);
      dx = g.Call("scatter_add", {zeros, positions, dx}, {{"axis", axes[i]}});
    }
    if (!front.is_constant(0) || !back.is_constant(0)) {
      dx = g.Call("pad", {dx},
                  {{"before", Shape{0 - front}},
                   {"after", Shape{0 - back}},
                   {"axes", std::vector<int64_t>{axes[i]}}});
    }
  }
  g.SetInputGradient(0, dx);
}

struct PadMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Adds elements before and after x along axes, or removes elements where a count is "
        "negative. The padding is a constant, or is copied from the remaining elements of x, "
        "repeatedly if needed: mirrored at the edge (\"reflect\": 3 2 | 1 2 3 | 2 1), the edge "
        "element (\"edge\": 1 1 | 1 2 3 | 3 3), or periodic (\"wrap\": 2 3 | 1 2 3 | 1 2). "
        "Elements are removed before x is padded.");
    AddInput("x", "elements of any rank").Accepts(kAnySet);
    AddOutput("y", "dtype as x; padded sizes").DTypeOf("x");
    AddAttr<Shape>("before", "number of elements to add before each axis");
    AddAttr<Shape>("after", "number of elements to add after each axis");
    AddAttr<std::vector<int64_t>>(
        "axes", "axes, each at most once; negative axes count from the end; by default all")
        .Optional();
    AddAttr<std::string>("mode", "kind of padding")
        .Default("constant")
        .OneOf({"constant", "reflect", "edge", "wrap"});
    AddAttr<double>("value", "constant to pad with; must be representable in x's dtype").Default(0);
    AddExample("y = pad([1, 2, 3], before=[1], after=[2])  # = [0, 1, 2, 3, 0, 0]");
    AddExample(
        "y = pad([1, 2, 3], before=[2], after=[1], mode=\"reflect\")  # = [3, 2, 1, 2, 3, 2]");
    SetInference(InferPad);
    SetGradient(PadGradient);
  }
};

// --- flip ---------------------------------------------------------------------------------------

llvm::Error InferFlip(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axes = context.NormalizeAxes("axes", x.rank());
  if (!axes) return axes.takeError();
  context.SetOutput(context.input(0));  // the elements keep their range
  return llvm::Error::success();
}

struct FlipMaker : OpProtoMaker {
  void Make() override {
    AddComment("Reverses the order of the elements along axes.");
    AddInput("x", "elements of any rank").Accepts(kAnySet);
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<std::vector<int64_t>>(
        "axes", "axes, each at most once; negative axes count from the end; by default all")
        .Optional()
        .Positional();
    AddExample("y = flip([[1, 2], [3, 4]], axes=[1])  # = [[2, 1], [4, 3]]");
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferFlip);
    SetGradient([](GradientContext& g) {
      if (!g.attributes().Has("axes")) {
        g.SetInputGradient(0, g.Call("flip", {g.output_gradient()}));
        return;
      }
      const std::vector<int64_t> axes = g.attributes().Ints("axes").vec();
      g.SetInputGradient(0, g.Call("flip", {g.output_gradient()}, {{"axes", axes}}));
    });
  }
};

// --- roll ---------------------------------------------------------------------------------------

llvm::Error InferRoll(InferenceContext& context) {
  const AttributeReader& attributes = context.attributes();
  auto axes = context.NormalizeAxes("axes", context.input(0).rank());
  if (!axes) return axes.takeError();
  const size_t count = attributes.Dims("shifts").size();
  if (!attributes.Has("axes") && count != 1) {
    return context.FailAtAttribute("shifts", Code::kShapeMismatch,
                                   "'shifts' must have one entry if 'axes' is not given, got {0}",
                                   count);
  }
  if (attributes.Has("axes")) {
    if (llvm::Error error = CheckCount(context, "shifts", count, axes->size())) return error;
  }
  context.SetOutput(context.input(0));  // the elements keep their range
  return llvm::Error::success();
}

struct RollMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Shifts elements along axes; elements that are shifted beyond the end reappear at the "
        "start. Without axes, elements are shifted as if x had one dim.");
    AddInput("x", "elements of any rank").Accepts(kAnySet);
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<Shape>(
        "shifts", "number of elements to shift each axis by; negative shifts move toward the start")
        .Positional();
    AddAttr<std::vector<int64_t>>("axes",
                                  "axes, each at most once; negative axes count from the end; by "
                                  "default x is treated as one dim")
        .Optional()
        .Positional();
    AddExample("y = roll([1, 2, 3, 4], 1)  # = [4, 1, 2, 3]");
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferRoll);
    SetGradient([](GradientContext& g) {
      std::vector<NamedAttribute> attributes = {
          {"shifts", Negative(g.attributes().Dims("shifts"))}};
      if (g.attributes().Has("axes")) {
        attributes.push_back({"axes", g.attributes().Ints("axes").vec()});
      }
      g.SetInputGradient(0, g.Call("roll", {g.output_gradient()}, attributes));
    });
  }
};

// --- tile ---------------------------------------------------------------------------------------

// The dims of x and the repeats, with ones prepended to the shorter list.
std::pair<Shape, Shape> TileDims(const Shape& dims, const Shape& repeats) {
  std::pair<Shape, Shape> result = {dims, repeats};
  const size_t rank = std::max(dims.size(), repeats.size());
  result.first.insert(result.first.begin(), rank - dims.size(), Dim(1));
  result.second.insert(result.second.begin(), rank - repeats.size(), Dim(1));
  return result;
}

llvm::Error InferTile(InferenceContext& context) {
  if (llvm::Error error = CheckDims(context, "repeats")) return error;
  Type type = context.input(0);
  const auto [dims, repeats] = TileDims(type.dims, context.attributes().Dims("repeats"));
  type.dims = dims;
  for (size_t d = 0; d < dims.size(); ++d) type.dims[d] = dims[d] * repeats[d];
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

// Reshapes so that the copies are along axes of their own, and sums over these.
void TileGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype)) return;
  const auto [dims, repeats] = TileDims(x.dims, g.attributes().Dims("repeats"));
  Shape apart;
  std::vector<int64_t> axes;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!repeats[d].is_constant(1)) {
      axes.push_back(static_cast<int64_t>(apart.size()));
      apart.push_back(repeats[d]);
    }
    apart.push_back(dims[d]);
  }
  Value* dx = g.output_gradient();
  if (!axes.empty()) {
    dx = g.Call("reshape", {dx}, {{"dims", apart}});
    dx = g.Call("sum", {dx}, {{"axes", axes}});
  }
  g.SetInputGradient(0, g.Call("reshape", {dx}, {{"dims", x.dims}}));
}

struct TileMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Repeats x along each axis. Repeats and dims are aligned at the last axis; the shorter "
        "list is extended by leading ones.");
    AddInput("x", "elements of any rank").Accepts(kAnySet);
    AddOutput("y", "dtype as x; each size multiplied by its repeats").DTypeOf("x");
    AddAttr<Shape>("repeats", "number of copies along each of the last axes").Positional();
    AddExample("y = tile([1, 2], [2, 2])  # = [[1, 2, 1, 2], [1, 2, 1, 2]]");
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferTile);
    SetGradient(TileGradient);
  }
};

}  // namespace

void RegisterPadOps(OpRegistry& registry) {
  registry.BeginFamily("Padding and repeating");
  registry.RegisterOp<PadOp, PadMaker>("pad");
  registry.RegisterOp<FlipOp, FlipMaker>("flip");
  registry.RegisterOp<RollOp, RollMaker>("roll");
  registry.RegisterOp<TileOp, TileMaker>("tile");
}

}  // namespace pdl
