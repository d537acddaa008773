// Operators that split and join tensors: slice, split, concat, stack.
#include <cstring>

#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/strided_copy.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/layout_rule.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// --- slice --------------------------------------------------------------------------------------

// The range of indices that a call selects along one axis of x.
struct AxisRange {
  Dim start = 0;
  Dim stop;
  int64_t step = 1;
  Dim length;  // (stop - start) / step, rounded up
};

// Indices follow the language: a negative number counts from the end.
Dim FromStart(const Dim& index, const Dim& size) {
  return index.is_constant() && index.constant() < 0 ? size + index : index;
}

// The ranges along all axes of x. The attributes must be consistent.
llvm::SmallVector<AxisRange, 4> Ranges(const AttributeReader& attributes,
                                       llvm::ArrayRef<Dim> dims) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  llvm::SmallVector<AxisRange, 4> ranges;
  for (const Dim& dim : dims) {
    AxisRange range;
    range.stop = range.length = dim;
    ranges.push_back(std::move(range));
  }
  auto at = [&](int64_t axis) -> AxisRange& {
    return ranges[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
  };
  const auto axes = attributes.Ints("axes");
  const Shape& starts = attributes.Dims("starts");
  const Shape& stops = attributes.Dims("stops");
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisRange& range = at(axes[i]);
    const Dim size = range.stop;
    range.start = FromStart(starts[i], size);
    range.stop = FromStart(stops[i], size);
    if (attributes.Has("steps")) range.step = attributes.Ints("steps")[i];
    range.length = range.stop - range.start;
    if (range.step != 1) range.length = Dim::FloorDiv(range.length + (range.step - 1), range.step);
  }
  return ranges;
}

template <class Context>
class SliceOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    Shape dims(input.sizes.begin(), input.sizes.end());
    const auto strides = RowMajorStrides(input.sizes);
    StridedView view;
    const auto ranges = Ranges(this->attributes(), dims);
    for (size_t d = 0; d < ranges.size(); ++d) {
      llvm::Expected<int64_t> start = context.Evaluate(ranges[d].start);
      if (!start) return start.takeError();
      llvm::Expected<int64_t> length = context.Evaluate(ranges[d].length);
      if (!length) return length.takeError();
      view.offset += *start * strides[d];
      view.sizes.push_back(*length);
      view.strides.push_back(strides[d] * ranges[d].step);
    }
    view.Collapse();
    Preparation preparation;
    if (view.num_elements() == input.num_elements()) preparation.aliases.push_back({0, 0});
    auto state = std::make_shared<State>();
    state->copy = StridedCopy(std::move(view), DTypeSize(input.dtype));
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<State>()->copy.Run(inputs[0]->raw(), outputs[0]->raw(), context);
    return llvm::Error::success();
  }

 private:
  struct State : CallState {
    StridedCopy copy;
  };
};

// Checks that `starts`, `stops`, `steps` have one entry for each of `axes`, and that axes exist.
llvm::Error CheckSliceAttributes(InferenceContext& context) {
  const AttributeReader& attributes = context.attributes();
  const unsigned rank = context.input(0).rank();
  const size_t count = attributes.Ints("axes").size();
  auto axes = context.NormalizeAxes("axes", rank);
  if (!axes) return axes.takeError();
  for (const unsigned axis : *axes) {
    if (llvm::Error error = context.RequireDenseAxis(0, axis, "axes")) return error;
  }
  auto wrong_count = [&](llvm::StringRef name, size_t got) {
    return context.FailAtAttribute(name, Code::kShapeMismatch,
                                   "'{0}' must have one entry for each of the {1} axes, got {2}",
                                   name, count, got);
  };
  if (attributes.Dims("starts").size() != count) {
    return wrong_count("starts", attributes.Dims("starts").size());
  }
  if (attributes.Dims("stops").size() != count) {
    return wrong_count("stops", attributes.Dims("stops").size());
  }
  if (attributes.Has("steps") && attributes.Ints("steps").size() != count) {
    return wrong_count("steps", attributes.Ints("steps").size());
  }
  return llvm::Error::success();
}

llvm::Error InferSlice(InferenceContext& context) {
  if (llvm::Error error = CheckSliceAttributes(context)) return error;
  const Type& x = context.input(0);
  const AttributeReader& attributes = context.attributes();
  const auto ranges = Ranges(attributes, x.dims);
  Type type = x;
  for (unsigned d = 0; d < ranges.size(); ++d) {
    const AxisRange& range = ranges[d];
    const Dim& size = x.dims[d];
    if (size.is_ragged()) continue;  // not sliced
    if (range.start.ProvablyAtMost(-1) || (size - range.start).ProvablyAtMost(-1)) {
      return context.FailAtAttribute("starts", Code::kAxis, "start {0} is outside axis {1} of {2}",
                                     range.start.ToString(), d, x.ToString());
    }
    if ((size - range.stop).ProvablyAtMost(-1)) {
      return context.FailAtAttribute("stops", Code::kAxis, "stop {0} is outside axis {1} of {2}",
                                     range.stop.ToString(), d, x.ToString());
    }
    if ((range.stop - range.start).ProvablyAtMost(-1)) {
      return context.FailAtAttribute("stops", Code::kAxis, "stop {0} comes before start {1}",
                                     range.stop.ToString(), range.start.ToString());
    }
    if (llvm::Error error = context.RequireAtLeast(range.start, 0, {0}, "a start is negative")) {
      return error;
    }
    if (llvm::Error error =
            context.RequireAtLeast(range.stop, range.start, {0}, "a stop comes before its start")) {
      return error;
    }
    if (llvm::Error error =
            context.RequireAtLeast(size, range.stop, {0}, "an index is outside its axis")) {
      return error;
    }
    type.dims[d] = range.length;
  }
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

Value* Zeros(GradientContext& g, const Shape& dims, DType dtype) {
  return g.Call("zeros", {}, {{"dims", dims}, {"dtype", dtype}});
}

// Concatenates `value` with zeros before and after it along one axis.
Value* Pad(GradientContext& g, Value* value, unsigned axis, const Dim& before, const Dim& after) {
  if (value == nullptr) return nullptr;
  const Type type = value->type();
  auto zeros = [&](const Dim& size) {
    Shape dims = type.dims;
    dims[axis] = size;
    return Zeros(g, dims, type.dtype);
  };
  llvm::SmallVector<Value*, 3> parts;
  if (!before.is_constant(0)) parts.push_back(zeros(before));
  parts.push_back(value);
  if (!after.is_constant(0)) parts.push_back(zeros(after));
  if (parts.size() == 1) return value;
  return g.Call("concat", parts, {{"axis", static_cast<int64_t>(axis)}});
}

// Inserts step - 1 zeros after each element along one axis.
Value* Dilate(GradientContext& g, Value* value, unsigned axis, int64_t step) {
  if (value == nullptr) return nullptr;
  Shape dims = value->type().dims;
  const Dim length = dims[axis];
  dims.insert(dims.begin() + axis + 1, Dim(1));
  value = g.Call("reshape", {value}, {{"dims", dims}});
  value = Pad(g, value, axis + 1, 0, step - 1);
  dims.erase(dims.begin() + axis + 1);
  dims[axis] = length * step;
  return g.Call("reshape", {value}, {{"dims", dims}});
}

void SliceGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  const auto ranges = Ranges(g.attributes(), x.dims);
  Value* dx = g.output_gradient();
  for (unsigned d = 0; d < ranges.size(); ++d) {
    const AxisRange& range = ranges[d];
    if (x.dims[d].is_ragged()) continue;
    Dim length = range.length;
    if (range.step != 1) {
      dx = Dilate(g, dx, d, range.step);
      // The zeros after the last element may extend beyond the end.
      const Dim most = x.dims[d] - range.start;
      const Dim dilated = length * range.step;
      length = Dim::Min(dilated, most);
      if (length != dilated) {
        dx = g.Call("slice", {dx},
                    {{"axes", std::vector<int64_t>{static_cast<int64_t>(d)}},
                     {"starts", Shape{Dim(0)}},
                     {"stops", Shape{length}}});
      }
    }
    dx = Pad(g, dx, d, range.start, x.dims[d] - range.start - length);
  }
  g.SetInputGradient(0, dx);
}

struct SliceMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Selects a part of x along some axes, like x[0:10, 2:]. A bound outside its axis is an "
        "error; bounds are never clamped.");
    AddInput("x", "elements of any rank").Accepts(kAnySet).Ragged();
    AddOutput("y", "dtype as x").DTypeOf("x");
    AddAttr<std::vector<int64_t>>(
        "axes", "axes to slice, each at most once; they must come after ragged dims")
        .Axis();
    AddAttr<Shape>("starts", "first index of each range; a negative number counts from the end");
    AddAttr<Shape>("stops",
                   "end of each range, not included; a negative number counts from the end");
    AddAttr<std::vector<int64_t>>("steps", "step of each range; by default 1")
        .Optional()
        .AtLeast(1);
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferSlice);
    SetGradient(SliceGradient);
    AddExample("y = slice([10, 20, 30, 40], axes=[0], starts=[1], stops=[3])  # = [20, 30]");
  }
};

// --- split --------------------------------------------------------------------------------------

// The start of each part along the axis, followed by the size of the axis.
llvm::SmallVector<Dim, 4> SplitPoints(const AttributeReader& attributes, const Dim& size) {
  llvm::SmallVector<Dim, 4> points = {Dim(0)};
  if (attributes.Has("sizes")) {
    for (const Dim& part : attributes.Dims("sizes")) points.push_back(points.back() + part);
  } else {
    const int64_t parts = attributes.Int("parts");
    for (int64_t i = 0; i < parts; ++i)
      points.push_back(points.back() + Dim::FloorDiv(size, parts));
  }
  return points;
}

llvm::Error InferSplit(InferenceContext& context) {
  const Type& x = context.input(0);
  if (x.is_scalar()) return context.FailAt({0}, Code::kRank, "a scalar has no axis to split");
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = context.RequireDenseAxis(0, *axis, "axis")) return error;
  const Dim& size = x.dims[*axis];
  const bool has_sizes = context.attributes().Has("sizes");
  if (has_sizes == context.attributes().Has("parts")) {
    return context.FailAtAttribute(has_sizes ? "sizes" : "parts", Code::kAttributeRange,
                                   "exactly one of 'parts' and 'sizes' must be given");
  }
  if (has_sizes) {
    if (llvm::Error error = CheckDims(context, "sizes")) return error;
  }
  const auto points = SplitPoints(context.attributes(), size);
  if (llvm::Error error = context.RequireEqual(
          points.back(), size, {0},
          has_sizes ? "the sizes do not sum to the size of the axis"
                    : "the size of the axis is not a multiple of the number of parts")) {
    return error;
  }
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    Type part = x;
    part.dims[*axis] = points[i + 1] - points[i];
    context.SetOutput(static_cast<unsigned>(i), std::move(part));
  }
  return llvm::Error::success();
}

void SplitGradient(GradientContext& g) {
  llvm::SmallVector<Value*, 4> parts;
  for (unsigned i = 0; i < g.op().results().size(); ++i) {
    const Type& type = g.output(i)->type();
    Value* dy = g.output_gradient(i);
    if (dy == nullptr) dy = g.Call("zeros", {}, {{"dims", type.dims}, {"dtype", type.dtype}});
    parts.push_back(dy);
  }
  g.SetInputGradient(0, g.Call("concat", parts, {{"axis", g.attributes().Int("axis")}}));
}

llvm::Error LowerSplit(LoweringContext& l) {
  Value* x = l.input(0).values;
  const Type& type = l.input(0).type;
  int64_t axis = l.attributes().Int("axis");
  if (axis < 0) axis += type.rank();
  const auto points = SplitPoints(l.attributes(), type.dims[static_cast<size_t>(axis)]);
  axis -= type.ragged_levels();
  for (unsigned i = 0; i + 1 < points.size(); ++i) {
    l.SetOutput(i, l.Call("slice", {x},
                          {{"axes", std::vector<int64_t>{axis}},
                           {"starts", Shape{points[i]}},
                           {"stops", Shape{points[i + 1]}}}));
  }
  return l.TakeError();
}

struct SplitMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Splits a tensor along an axis into `parts` equal parts, or into parts of the given sizes. "
        "`q, k, v = split(x, parts=3)`.");
    AddInput("x", "at least one dim").Accepts(kAnySet).Ragged();
    AddOutput("y", "each part; dtype as x").DTypeOf("x");
    AddAttr<int64_t>("parts", "number of equal parts").Optional().AtLeast(1).AtMost(1 << 16);
    AddAttr<Shape>("sizes", "size of each part along the axis").Optional();
    AddAttr<int64_t>("axis", "axis; a negative axis counts from the end").Default(0).Axis();
    RepeatLastOutput({"sizes", "parts"});
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferSplit);
    SetGradient(SplitGradient);
    SetLowering(LowerSplit);
    AddExample("a, b = split([1, 2, 3, 4], parts=2)");
    AddExample("a, b = split([1, 2, 3, 4], sizes=[1, 3])");
  }
};

// --- concat -------------------------------------------------------------------------------------

struct ConcatState : CallState {
  struct Part {
    int64_t bytes;   // contiguous bytes in a row of the result
    int64_t offset;  // in a row of the result
  };
  llvm::SmallVector<Part, 4> parts;
  int64_t rows = 1, row_bytes = 0;
  int64_t grain = 1;
};

template <class Context>
class ConcatOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& output = context.outputs()[0];
    const int64_t rank = static_cast<int64_t>(output.sizes.size());
    const size_t axis = static_cast<size_t>(axis_ < 0 ? axis_ + rank : axis_);
    auto state = std::make_shared<ConcatState>();
    int64_t inner = DTypeSize(output.dtype);
    for (size_t d = 0; d < output.sizes.size(); ++d) {
      if (d < axis) state->rows *= output.sizes[d];
      if (d > axis) inner *= output.sizes[d];
    }
    for (const OperandType& input : context.inputs()) {
      // stack: each part has size 1 along the new axis.
      const int64_t bytes =
          (input.sizes.size() < output.sizes.size() ? 1 : input.sizes[axis]) * inner;
      state->parts.push_back({bytes, state->row_bytes});
      state->row_bytes += bytes;
    }
    state->grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(state->row_bytes, 1));
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const ConcatState& s = *context.template state<ConcatState>();
    char* out = static_cast<char*>(outputs[0]->raw());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ConcatState::Part part = s.parts[i];
      if (part.bytes == 0) continue;
      const char* in = static_cast<const char*>(inputs[i]->raw());
      context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          std::memcpy(out + row * s.row_bytes + part.offset, in + row * part.bytes,
                      static_cast<size_t>(part.bytes));
        }
      });
    }
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    return llvm::Error::success();
  }

 private:
  int64_t axis_ = 0;
};

llvm::Error InferConcat(InferenceContext& context) {
  const Type& first = context.input(0);
  if (first.is_scalar()) {
    return context.FailAt({0}, Code::kRank, "a scalar has no axis to concatenate along");
  }
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), first.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = context.RequireDenseAxis(0, *axis, "axis")) return error;
  Type result = first;
  for (unsigned i = 1; i < context.num_inputs(); ++i) {
    const Type& other = context.input(i);
    if (other.dtype != first.dtype) {
      return context.FailAt({0, i}, Code::kDTypeMismatch, "dtypes differ: {0} and {1}",
                            DTypeName(first.dtype), DTypeName(other.dtype));
    }
    if (other.rank() != first.rank()) {
      return context.FailAt({0, i}, Code::kRank, "ranks differ: {0} and {1}", first.rank(),
                            other.rank());
    }
    for (unsigned d = 0; d < first.rank(); ++d) {
      if (d == *axis) continue;
      if (llvm::Error error = context.RequireEqual(result.dims[d], other.dims[d], {0, i},
                                                   "sizes along other axes differ")) {
        return error;
      }
      // Of two sizes that must be equal, a constant one is more useful.
      if (other.dims[d].is_constant()) result.dims[d] = other.dims[d];
    }
    result.dims[*axis] = result.dims[*axis] + other.dims[*axis];
    if (!other.index_bound || !result.index_bound) {
      result.index_bound.reset();
    } else {
      result.index_bound = Dim::Max(*result.index_bound, *other.index_bound);
    }
  }
  context.SetOutput(std::move(result));
  return llvm::Error::success();
}

void ConcatGradient(GradientContext& g) {
  const int64_t rank = g.output()->type().rank();
  const int64_t given = g.attributes().Int("axis");
  const int64_t axis = given < 0 ? given + rank : given;
  Dim start = 0;
  for (unsigned i = 0; i < g.num_inputs(); ++i) {
    const Dim stop = start + g.input(i)->type().dims[static_cast<size_t>(axis)];
    g.SetInputGradient(i, g.Call("slice", {g.output_gradient()},
                                 {{"axes", std::vector<int64_t>{axis}},
                                  {"starts", Shape{start}},
                                  {"stops", Shape{stop}}}));
    start = stop;
  }
}

struct ConcatMaker : OpProtoMaker {
  void Make() override {
    AddComment("Concatenates tensors along an axis.");
    AddInput("x", "one or more, with the same dtype, rank, and sizes along the other axes")
        .Accepts(kAnySet)
        .Ragged()
        .Repeatable();
    AddOutput("y", "dtype as x; along the axis, the sum of the sizes").DTypeOf("x");
    AddAttr<int64_t>("axis", "axis; a negative axis counts from the end").Default(0).Axis();
    properties().is_identity = true;
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    properties().widening = IntegerWidening::kModular;
    properties().channels_last = &kRenumberAxes;
    SetInference(InferConcat);
    SetGradient(ConcatGradient);
    AddExample("y = concat([[1], [2]], [[3, 4], [5, 6]], axis=1)  # = [[1, 3, 4], [2, 5, 6]]");
  }
};

// --- stack --------------------------------------------------------------------------------------

llvm::Error InferStack(InferenceContext& context) {
  Type type = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), type.rank() + 1, "axis");
  if (!axis) return axis.takeError();
  for (unsigned i = 1; i < context.num_inputs(); ++i) {
    const Type& other = context.input(i);
    if (other.dtype != type.dtype) {
      return context.FailAt({0, i}, Code::kDTypeMismatch, "dtypes differ: {0} and {1}",
                            DTypeName(type.dtype), DTypeName(other.dtype));
    }
    if (other.rank() != type.rank()) {
      return context.FailAt({0, i}, Code::kRank, "ranks differ: {0} and {1}", type.rank(),
                            other.rank());
    }
    for (unsigned d = 0; d < type.rank(); ++d) {
      if (llvm::Error error =
              context.RequireEqual(type.dims[d], other.dims[d], {0, i}, "sizes differ")) {
        return error;
      }
      if (other.dims[d].is_constant()) type.dims[d] = other.dims[d];
    }
    if (!other.index_bound || !type.index_bound) {
      type.index_bound.reset();
    } else {
      type.index_bound = Dim::Max(*type.index_bound, *other.index_bound);
    }
  }
  type.dims.insert(type.dims.begin() + *axis, Dim(context.num_inputs()));
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

void StackGradient(GradientContext& g) {
  const int64_t rank = g.output()->type().rank();
  const int64_t given = g.attributes().Int("axis");
  const int64_t axis = given < 0 ? given + rank : given;
  for (unsigned i = 0; i < g.num_inputs(); ++i) {
    Value* part = g.Call(
        "slice", {g.output_gradient()},
        {{"axes", std::vector<int64_t>{axis}}, {"starts", Shape{i}}, {"stops", Shape{i + 1}}});
    g.SetInputGradient(i, g.Call("reshape", {part}, {{"dims", g.input(i)->type().dims}}));
  }
}

struct StackMaker : OpProtoMaker {
  void Make() override {
    AddComment("Stacks tensors of the same type along a new axis.");
    AddInput("x", "one or more, with the same dtype and sizes").Accepts(kAnySet).Repeatable();
    AddOutput("y", "dtype as x; the size of the new axis is the number of tensors").DTypeOf("x");
    AddAttr<int64_t>("axis",
                     "index of the new axis in the result; a negative one counts from the end")
        .Default(0);
    AddExample("y = stack([1, 2], [3, 4], axis=1)  # = [[1, 3], [2, 4]]");
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferStack);
    SetGradient(StackGradient);
  }
};

}  // namespace

void RegisterSliceOps(OpRegistry& registry) {
  registry.BeginFamily("Slices and concatenation");
  registry.RegisterOp<SliceOp, SliceMaker>("slice");
  registry.Add(SplitMaker().Build("split"));
  registry.RegisterOp<ConcatOp, ConcatMaker>("concat");
  registry.RegisterOp<ConcatOp, StackMaker>("stack");
}

}  // namespace pdl
