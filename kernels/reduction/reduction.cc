// Reductions over axes: sum, mean, norm, max, min, prod, any, all, count_nonzero, logsumexp. Others
// are in arg_min_max.cc and variance.cc.
#include <limits>
#include <optional>

#include "kernels/core/wide_gradient.h"
#include "kernels/reduction/axes_attributes.h"
#include "kernels/reduction/reduction_kernel.h"
#include "pdl/op/gradient.h"
#include "pdl/op/layout_rule.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

template <class Context, Reduction kReduction>
class ReduceOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    auto plan = std::make_shared<ReducePlan>(
        kReduction, input.dtype, input.sizes,
        ReducedAxes(this->attributes(), static_cast<unsigned>(input.sizes.size())));
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
template <class Context>
using ProdOp = ReduceOp<Context, Reduction::kProd>;
template <class Context>
using AnyOp = ReduceOp<Context, Reduction::kAny>;
template <class Context>
using AllOp = ReduceOp<Context, Reduction::kAll>;
template <class Context>
using CountNonzeroOp = ReduceOp<Context, Reduction::kCountNonzero>;
template <class Context>
using LogSumExpOp = ReduceOp<Context, Reduction::kLogSumExp>;

llvm::Error InferSum(InferenceContext& context) {
  const DType dtype = context.input(0).dtype;
  return InferReduction(context, IsFloat(dtype) ? dtype : DType::kI64);
}
llvm::Error InferMean(InferenceContext& context) {
  return InferReduction(context, context.input(0).dtype);
}
llvm::Error InferMinMax(InferenceContext& context) {
  return InferReduction(context, context.input(0).dtype, true);
}

llvm::Error InferTruth(InferenceContext& context) { return InferReduction(context, DType::kBool); }
llvm::Error InferCount(InferenceContext& context) { return InferReduction(context, DType::kI64); }

// --- Gradients ----------------------------------------------------------------------------------

void SumGradient(GradientContext& g) {
  if (!IsFloat(g.input(0)->type().dtype)) return;
  g.SetInputGradient(0, SpreadToInput(g, g.output_gradient()));
}

void MeanGradient(GradientContext& g) {
  Value* dy = g.output_gradient();
  Value* share = g.Div(Widen(g, dy), ReducedCount(g));
  g.SetInputGradient(0, SpreadToInput(g, CastTo(g, share, dy->type().dtype)));
}

// x / y, and 0 where all of x is 0. It is at most 1, while 1 / y may be infinite.
void NormGradient(GradientContext& g) {
  Value* y = PutBackAxes(g, g.output());
  Value* is_zero = g.Call("equal", {y, g.Scalar(0, y)});
  Value* divisor = g.Call("where", {is_zero, g.Scalar(1, y), y});
  Value* direction = g.Div(g.input(0), divisor);
  g.SetInputGradient(0, g.Mul(direction, PutBackAxes(g, g.output_gradient())));
}

// The gradient goes to the selected elements, in equal parts if there are several.
void MinMaxGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype)) return;
  std::vector<int64_t> axes;
  for (const unsigned axis : ReducedAxes(g)) axes.push_back(axis);
  Value* chosen = g.Call("equal", {g.input(0), PutBackAxes(g, g.output())});
  Value* count =
      g.Call("sum", {CastTo(g, chosen, WideDType(x.dtype))}, {{"axes", axes}, {"keep", true}});
  Value* dy = PutBackAxes(g, g.output_gradient());
  Value* share = CastTo(g, g.Div(Widen(g, dy), count), x.dtype);
  g.SetInputGradient(0, g.Call("where", {chosen, share, g.Scalar(0, dy)}));
}

// The product of all other elements, times dy. The axes are merged into one, along which cumulative
// products from both ends give the result even if elements are 0.
void ProdGradient(GradientContext& g) {
  Value* x = g.input(0);
  const Type& type = x->type();
  if (!IsFloat(type.dtype)) return;
  const auto axes = ReducedAxes(g);
  if (axes.empty()) return g.SetInputGradient(0, g.output_gradient());
  if (type.ragged_levels() > 0) {
    Value* others = g.Div(PutBackAxes(g, g.output()), x);
    return g.SetInputGradient(0, g.Mul(others, PutBackAxes(g, g.output_gradient())));
  }
  std::vector<int64_t> order;
  Shape dims;
  Dim length = 1;
  for (unsigned d = 0; d < type.rank(); ++d) {
    if (llvm::is_contained(axes, d)) {
      length = length * type.dims[d];
    } else {
      order.push_back(d);
      dims.push_back(type.dims[d]);
    }
  }
  dims.push_back(length);
  order.insert(order.end(), axes.begin(), axes.end());
  const bool one_axis = axes.size() == 1;
  Value* rows =
      one_axis ? x
               : g.Call("reshape", {g.Call("transpose", {x}, {{"perm", order}})}, {{"dims", dims}});
  const NamedAttribute axis = {"axis", one_axis ? static_cast<int64_t>(axes[0]) : int64_t{-1}};
  Value* before = g.Call("cumprod", {rows}, {axis, {"exclusive", true}});
  Value* after = g.Call("cumprod", {rows}, {axis, {"exclusive", true}, {"reverse", true}});
  Value* others = g.Mul(before, after);
  if (!one_axis) {
    Shape turned;
    std::vector<int64_t> back(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      turned.push_back(type.dims[static_cast<size_t>(order[i])]);
      back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    }
    others =
        g.Call("transpose", {g.Call("reshape", {others}, {{"dims", turned}})}, {{"perm", back}});
  }
  g.SetInputGradient(0, g.Mul(others, PutBackAxes(g, g.output_gradient())));
}

// softmax(x) along the axes, and 0 where the sum itself is 0.
void LogSumExpGradient(GradientContext& g) {
  Value* y = PutBackAxes(g, g.output());
  Value* none = g.Call("equal", {y, g.Scalar(-std::numeric_limits<double>::infinity(), y)});
  Value* part = g.Call("exp", {g.Sub(g.input(0), g.Call("where", {none, g.Scalar(0, y), y}))});
  g.SetInputGradient(0, g.Mul(part, PutBackAxes(g, g.output_gradient())));
}

// --- Declarations -------------------------------------------------------------------------------

template <Dim (*kChoose)(const Dim&, const Dim&)>
std::optional<Dim> MinMaxSize(const Op&, llvm::ArrayRef<Dim> sizes) {
  if (sizes.empty()) return std::nullopt;
  Dim chosen = sizes[0];
  for (const Dim& size : sizes.drop_front()) chosen = kChoose(chosen, size);
  return chosen;
}

struct SumMaker : ReductionMaker {
  void Make() override {
    Declare("The sum over axes; 0 if there are no elements.", kAnySet,
            "dtype as x, i64 for integers and bool; the dims of x without the axes");
    properties().widening = IntegerWidening::kModular;
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      Dim sum = 0;
      for (const Dim& dim : x) sum = sum + dim;
      return std::optional(sum);
    };
    properties().channels_last = &kRenumberAxes;
    SetInference(InferSum);
    SetGradient(SumGradient);
    AddExample("y = sum([[1.0, 2.0], [3.0, 4.0]], axes=[1])  # = [3.0, 7.0]");
  }
};

struct MeanMaker : ReductionMaker {
  void Make() override {
    Declare("The mean over axes; nan if there are no elements.", kFloatSet,
            "dtype as x; the dims of x without the axes")
        .DTypeOf("x");
    properties().channels_last = &kRenumberAxes;
    SetInference(InferMean);
    SetGradient(MeanGradient);
    AddExample("y = mean([[1.0, 5.0], [7.0, 0.0]], axes=[0])  # = [4.0, 2.5]");
  }
};

struct NormMaker : ReductionMaker {
  void Make() override {
    Declare(
        "The Euclidean norm over axes, the square root of the sum of squares. The gradient at 0 is "
        "0.",
        kFloatSet, "at least 0; dtype as x; the dims of x without the axes")
        .DTypeOf("x");
    SetInference(InferMean);
    SetGradient(NormGradient);
    AddExample("y = norm([[3.0, 4.0], [6.0, 8.0]], axes=[1])  # = [5.0, 10.0]");
  }
};

struct MaxMaker : ReductionMaker {
  void Make() override {
    Declare("The maximum over axes; nan propagates. An axis must not be empty.", kNumberSet,
            "dtype as x; the dims of x without the axes")
        .DTypeOf("x");
    properties().widening = IntegerWidening::kOrder;
    properties().size_arithmetic = MinMaxSize<Dim::Max>;
    properties().channels_last = &kRenumberAxes;
    SetInference(InferMinMax);
    SetGradient(MinMaxGradient);
    AddExample("y = max([[1.0, 5.0], [7.0, 0.0]], axes=[1])  # = [5.0, 7.0]");
  }
};

struct MinMaker : ReductionMaker {
  void Make() override {
    Declare("The minimum over axes; nan propagates. An axis must not be empty.", kNumberSet,
            "dtype as x; the dims of x without the axes")
        .DTypeOf("x");
    properties().widening = IntegerWidening::kOrder;
    properties().size_arithmetic = MinMaxSize<Dim::Min>;
    properties().channels_last = &kRenumberAxes;
    SetInference(InferMinMax);
    SetGradient(MinMaxGradient);
    AddExample("y = min([[1.0, 5.0], [7.0, 0.0]], axes=[1], keep=true)  # = [[1.0], [0.0]]");
  }
};

struct ProdMaker : ReductionMaker {
  void Make() override {
    Declare(
        "The product over axes; 1 if there are no elements. Integers wrap around. The gradient of "
        "a ragged x is nan where an element is 0.",
        kAnySet, "dtype as x, i64 for integers and bool; the dims of x without the axes");
    properties().widening = IntegerWidening::kModular;
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      Dim product = 1;
      for (const Dim& dim : x) product = product * dim;
      return std::optional(product);
    };
    properties().channels_last = &kRenumberAxes;
    AddExample("y = prod([[1.0, 2.0], [3.0, 4.0]], axes=[1])  # = [2.0, 12.0]");
    SetInference(InferSum);
    SetGradient(InWideDType<ProdGradient>);
  }
};

struct AnyMaker : ReductionMaker {
  void Make() override {
    Declare(
        "Whether any element over axes is true or nonzero; false if there are no elements. nan is "
        "nonzero.",
        kAnySet, "bool; the dims of x without the axes")
        .HasDType(DType::kBool);
    AddExample("y = any([[0.0, 2.0], [0.0, 0.0]], axes=[1])  # = [true, false]");
    SetInference(InferTruth);
  }
};

struct AllMaker : ReductionMaker {
  void Make() override {
    Declare(
        "Whether all elements over axes are true or nonzero; true if there are no elements. nan is "
        "nonzero.",
        kAnySet, "bool; the dims of x without the axes")
        .HasDType(DType::kBool);
    AddExample("y = all([[1.0, 2.0], [3.0, 0.0]], axes=[1])  # = [true, false]");
    SetInference(InferTruth);
  }
};

struct CountNonzeroMaker : ReductionMaker {
  void Make() override {
    Declare("The number of elements over axes that are true or nonzero; nan is nonzero.", kAnySet,
            "i64; the dims of x without the axes")
        .OwnDType()
        .HasDType(DType::kI64);
    AddExample("y = count_nonzero([[1.0, 2.0], [3.0, 0.0]], axes=[1])  # = [2, 1]");
    SetInference(InferCount);
  }
};

struct LogSumExpMaker : ReductionMaker {
  void Make() override {
    Declare(
        "log(sum(exp(x))) over axes, without overflow for large x; -inf if there are no elements.",
        kFloatSet, "dtype as x; the dims of x without the axes")
        .DTypeOf("x");
    properties().channels_last = &kRenumberAxes;
    AddExample("y = logsumexp([1000.0, 1000.0])  # = 1000.6931");
    SetInference(InferMean);
    SetGradient(LogSumExpGradient);
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
  registry.RegisterOp<ProdOp, ProdMaker>("prod");
  registry.RegisterOp<AnyOp, AnyMaker>("any");
  registry.RegisterOp<AllOp, AllMaker>("all");
  registry.RegisterOp<CountNonzeroOp, CountNonzeroMaker>("count_nonzero");
  registry.RegisterOp<LogSumExpOp, LogSumExpMaker>("logsumexp");
}

}  // namespace pdl
