// Operators over axes: sum, mean, norm, max, min, argmax.
#include "kernels/all_ops.h"
#include "kernels/reduce.h"
#include "pdl/gradient.h"
#include "pdl/op_proto_maker.h"
#include "pdl/operator.h"

namespace pdl {
namespace {

// `axes` as kernels want them, the checks having been made by inference.
llvm::SmallVector<unsigned, 4> ReadAxes(const std::optional<llvm::SmallVector<int64_t, 4>>& axes,
                                        unsigned rank) {
  llvm::SmallVector<unsigned, 4> result;
  for (unsigned d = 0; d < rank; ++d) {
    if (!axes || llvm::is_contained(*axes, static_cast<int64_t>(d)) ||
        llvm::is_contained(*axes, static_cast<int64_t>(d) - static_cast<int64_t>(rank))) {
      result.push_back(d);
    }
  }
  return result;
}

template <class Context, Reduction kReduction>
class ReduceOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    auto plan =
        std::make_shared<ReducePlan>(kReduction, input.dtype, input.sizes,
                                     ReadAxes(axes_, static_cast<unsigned>(input.sizes.size())));
    Preparation preparation;
    preparation.workspace_bytes = plan->workspace_bytes();
    preparation.state = std::move(plan);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<ReducePlan>()->Run(inputs[0]->raw(), outputs[0]->raw(), context);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if (!attributes.Has("axes")) return llvm::Error::success();
    const auto axes = attributes.Ints("axes");
    axes_.emplace(axes.begin(), axes.end());
    return llvm::Error::success();
  }

 private:
  std::optional<llvm::SmallVector<int64_t, 4>> axes_;  // none: all
};

template <class Context>
using SumOp = ReduceOp<Context, Reduction::kSum>;
template <class Context>
using MeanOp = ReduceOp<Context, Reduction::kMean>;
template <class Context>
using NormOp = ReduceOp<Context, Reduction::kNorm>;
template <class Context>
using MaxOp = ReduceOp<Context, Reduction::kMax>;
template <class Context>
using MinOp = ReduceOp<Context, Reduction::kMin>;

// The dims of x without `axes`, or with 1 in their place.
Shape ReducedDims(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<unsigned> axes, bool keep) {
  Shape result;
  for (unsigned d = 0; d < dims.size(); ++d) {
    if (!llvm::is_contained(axes, d)) {
      result.push_back(dims[d]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

llvm::Error InferReduction(InferenceContext& context, DType dtype, bool needs_element) {
  const Type& x = context.input(0);
  auto axes = context.NormalizeAxes("axes", x.rank());
  if (!axes) return axes.takeError();
  // All rows of a ragged tensor are one run; those of one sequence are for the sequence operators.
  const auto is_of_rows = [levels = x.ragged_levels()](unsigned axis) { return axis <= levels; };
  if (static_cast<size_t>(llvm::count_if(*axes, is_of_rows)) != x.ragged_levels() + 1) {
    for (const unsigned axis : *axes) {
      if (llvm::Error error = context.RequireDenseAxis(0, axis, "axes")) return error;
    }
  }
  if (needs_element) {
    for (const unsigned axis : *axes) {
      if (x.dims[axis].is_ragged()) continue;
      if (llvm::Error error = context.RequireAtLeast(x.dims[axis], 1, {0},
                                                     "an axis to choose from has no element")) {
        return error;
      }
    }
  }
  context.SetOutput(Type(dtype, ReducedDims(x.dims, *axes, context.attributes().Bool("keep"))));
  return llvm::Error::success();
}

llvm::Error InferSum(InferenceContext& context) {
  const DType dtype = context.input(0).dtype;
  return InferReduction(context, IsFloat(dtype) ? dtype : DType::kI64, false);
}
llvm::Error InferMean(InferenceContext& context) {
  return InferReduction(context, context.input(0).dtype, false);
}
llvm::Error InferExtreme(InferenceContext& context) {
  return InferReduction(context, context.input(0).dtype, true);
}

// --- Gradients ----------------------------------------------------------------------------------

llvm::SmallVector<unsigned, 4> AxesOf(GradientContext& g) {
  std::optional<llvm::SmallVector<int64_t, 4>> axes;
  if (g.attributes().Has("axes")) {
    const auto given = g.attributes().Ints("axes");
    axes.emplace(given.begin(), given.end());
  }
  return ReadAxes(axes, g.input(0)->type().rank());
}

// A value of the result's dims with the reduced axes put back as 1, so that it broadcasts to x.
Value* PutBack(GradientContext& g, Value* value) {
  const Shape dims = ReducedDims(g.input(0)->type().dims, AxesOf(g), true);
  if (value == nullptr || value->type().dims == dims) return value;
  return g.Call("reshape", {value}, {{"dims", dims}});
}

Value* Spread(GradientContext& g, Value* value) {
  return g.Call("broadcast_to", {PutBack(g, value)}, {{"dims", g.input(0)->type().dims}});
}

void SumGradient(GradientContext& g) {
  if (!IsFloat(g.input(0)->type().dtype)) return;
  g.SetInputGradient(0, Spread(g, g.output_gradient()));
}

void MeanGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  Shape reduced;
  for (const unsigned axis : AxesOf(g)) reduced.push_back(x.dims[axis]);
  Value* count = g.Call("size", {}, {{"dims", reduced}, {"dtype", x.dtype}});
  g.SetInputGradient(0, Spread(g, g.Div(g.output_gradient(), count)));
}

// x / y, and 0 where all of x is 0.
void NormGradient(GradientContext& g) {
  Value* y = PutBack(g, g.output());
  Value* is_zero = g.Call("equal", {y, g.Scalar(0, y)});
  Value* divisor = g.Call("where", {is_zero, g.Scalar(1, y), y});
  g.SetInputGradient(0, g.Mul(g.input(0), g.Div(PutBack(g, g.output_gradient()), divisor)));
}

// To the elements that were chosen, in equal parts where there are several.
void ExtremeGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype)) return;
  std::vector<int64_t> axes;
  for (const unsigned axis : AxesOf(g)) axes.push_back(axis);
  Value* chosen =
      g.Call("cast", {g.Call("equal", {g.input(0), PutBack(g, g.output())})}, {{"to", x.dtype}});
  Value* count = g.Call("sum", {chosen}, {{"axes", axes}, {"keep", true}});
  g.SetInputGradient(0, g.Mul(chosen, g.Div(PutBack(g, g.output_gradient()), count)));
}

// --- Declarations -------------------------------------------------------------------------------

struct ReductionMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, DTypeSet dtypes, const char* result) {
    AddComment(comment);
    AddInput(
        "x",
        "elements of any rank; the ragged dims and the one before them are reduced together only")
        .Accepts(dtypes)
        .Ragged();
    AddOutput("y", result);
    AddAttr<std::vector<int64_t>>("axes", "axes to go over, negative ones from the end; none: all")
        .Optional()
        .Axis();
    AddAttr<bool>("keep", "keep each of these axes, with size 1").Default(false);
  }
};

struct SumMaker : ReductionMaker {
  void Make() override {
    Declare("The sum over axes; 0 where there is nothing to add.", kAnySet,
            "dtype as x, i64 for integers and truth values; the dims of x without the axes");
    SetInference(InferSum);
    SetGradient(SumGradient);
  }
};

struct MeanMaker : ReductionMaker {
  void Make() override {
    Declare("The mean over axes; nan where there is nothing.", kFloatSet,
            "dtype as x; the dims of x without the axes");
    SetInference(InferMean);
    SetGradient(MeanGradient);
  }
};

struct NormMaker : ReductionMaker {
  void Make() override {
    Declare(
        "The Euclidean norm over axes, the square root of the sum of squares; the gradient at 0 is "
        "0.",
        kFloatSet, "from 0 on; dtype as x; the dims of x without the axes");
    SetInference(InferMean);
    SetGradient(NormGradient);
  }
};

struct MaxMaker : ReductionMaker {
  void Make() override {
    Declare("The largest element over axes; nan where one is nan. An axis must not be empty.",
            kNumberSet, "dtype as x; the dims of x without the axes");
    SetInference(InferExtreme);
    SetGradient(ExtremeGradient);
  }
};

struct MinMaker : ReductionMaker {
  void Make() override {
    Declare("The smallest element over axes; nan where one is nan. An axis must not be empty.",
            kNumberSet, "dtype as x; the dims of x without the axes");
    SetInference(InferExtreme);
    SetGradient(ExtremeGradient);
  }
};

// --- argmax -------------------------------------------------------------------------------------

template <class Context>
class ArgmaxOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    const int64_t rank = static_cast<int64_t>(input.sizes.size());
    Preparation preparation;
    preparation.state = std::make_shared<ArgmaxPlan>(
        input.dtype, input.sizes, static_cast<unsigned>(axis_ < 0 ? axis_ + rank : axis_));
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<ArgmaxPlan>()->Run(inputs[0]->raw(),
                                              outputs[0]->template data<int64_t>(), context);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    return llvm::Error::success();
  }

 private:
  int64_t axis_ = -1;
};

llvm::Error InferArgmax(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = context.RequireDenseAxis(0, *axis, "axis")) return error;
  if (llvm::Error error =
          context.RequireAtLeast(x.dims[*axis], 1, {0}, "an axis to choose from has no element")) {
    return error;
  }
  Type type(DType::kI64, ReducedDims(x.dims, {*axis}, context.attributes().Bool("keep")));
  type.index_bound = x.dims[*axis];
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct ArgmaxMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Where the largest element along an axis is: the first of equal ones, or the first nan. "
        "The "
        "axis must not be empty.");
    AddInput("x", "at least one dim").Accepts(kAnySet).Ragged();
    AddOutput("index", "i64, below the size of the axis; the dims of x without it");
    AddAttr<int64_t>("axis", "the axis, a negative one from the end").Default(-1).Axis();
    AddAttr<bool>("keep", "keep the axis, with size 1").Default(false);
    SetInference(InferArgmax);
  }
};

}  // namespace

void RegisterReductionOps(OpRegistry& registry) {
  registry.BeginFamily("Reductions");
  registry.RegisterOp<SumOp, SumMaker>("sum");
  registry.RegisterOp<MeanOp, MeanMaker>("mean");
  registry.RegisterOp<NormOp, NormMaker>("norm");
  registry.RegisterOp<MaxOp, MaxMaker>("max");
  registry.RegisterOp<MinOp, MinMaker>("min");
  registry.RegisterOp<ArgmaxOp, ArgmaxMaker>("argmax");
}

}  // namespace pdl
