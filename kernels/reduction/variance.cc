// The variance and the standard deviation: variance, std.
#include "kernels/core/wide_gradient.h"
#include "kernels/normalization/moments.h"
#include "kernels/reduction/axes_attributes.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

template <class Context, bool kRoot>
class SpreadOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    llvm::SmallVector<bool, 6> kept(x.sizes.size(), true);
    const auto axes = ReducedAxes(this->attributes(), static_cast<unsigned>(x.sizes.size()));
    for (const unsigned axis : axes) kept[axis] = false;
    auto plan = std::make_shared<MomentsPlan>(x.dtype, x.sizes, kept, ddof_, kRoot);
    Preparation preparation;
    preparation.workspace_bytes = plan->workspace_bytes();
    preparation.state = std::move(plan);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<MomentsPlan>()->Run(inputs[0]->raw(), nullptr, outputs[0]->raw(),
                                               context);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    ddof_ = attributes.Int("ddof");
    return llvm::Error::success();
  }

 private:
  int64_t ddof_ = 0;
};

template <class Context>
using VarianceOp = SpreadOp<Context, false>;
template <class Context>
using StdOp = SpreadOp<Context, true>;

llvm::Error InferSpread(InferenceContext& context) {
  return InferReduction(context, context.input(0).dtype);
}

// (x - mean) / (count - ddof), half of the variance's derivative.
Value* HalfDerivative(GradientContext& g) {
  Value* x = g.input(0);
  std::vector<int64_t> axes;
  for (const unsigned axis : ReducedAxes(g)) axes.push_back(axis);
  Value* mean = g.Call("mean", {x}, {{"axes", axes}, {"keep", true}});
  const double ddof = static_cast<double>(g.attributes().Int("ddof"));
  return g.Div(g.Sub(x, mean), g.Sub(ReducedCount(g), g.Scalar(ddof, x)));
}

void VarianceGradient(GradientContext& g) {
  Value* twice = g.Mul(g.output_gradient(), g.Scalar(2, g.input(0)));
  g.SetInputGradient(0, g.Mul(HalfDerivative(g), PutBackAxes(g, twice)));
}

// Half of the variance's derivative / y, which is at most 1 where 1 / y may be infinite. 0 where
// all elements are equal: there the rounded mean may differ from them.
void StdGradient(GradientContext& g) {
  Value* y = g.output();
  Value* zero = g.Scalar(0, y);
  Value* is_zero = g.Call("equal", {y, zero});
  Value* divisor = g.Call("where", {is_zero, g.Scalar(1, y), y});
  Value* change = g.Call("where", {is_zero, zero, g.output_gradient()});
  g.SetInputGradient(
      0, g.Mul(g.Div(HalfDerivative(g), PutBackAxes(g, divisor)), PutBackAxes(g, change)));
}

struct SpreadMaker : ReductionMaker {
 protected:
  void DeclareSpread(const char* comment, GradientFunction gradient) {
    Declare(comment, kFloatSet, "at least 0; dtype as x; the dims of x without the axes")
        .DTypeOf("x");
    AddAttr<int64_t>("ddof",
                     "subtracted from the number of elements that the sum of squares is divided "
                     "by, as in NumPy: 1 gives the unbiased estimate of the population variance")
        .Default(0)
        .AtLeast(0);
    SetInference(InferSpread);
    SetGradient(gradient);
  }
};

struct VarianceMaker : SpreadMaker {
  void Make() override {
    DeclareSpread(
        "The variance over axes: the mean of squared distances from the mean; nan if there are no "
        "elements.",
        InWideDType<VarianceGradient>);
    AddExample("y = variance([1.0, 2.0, 3.0, 4.0], ddof=1)  # = 1.6666666");
  }
};

struct StdMaker : SpreadMaker {
  void Make() override {
    DeclareSpread(
        "The standard deviation over axes, the square root of the variance; nan if there are no "
        "elements. The gradient where all elements are equal is 0.",
        InWideDType<StdGradient>);
    AddExample("y = std([1.0, 3.0, 5.0, 7.0], ddof=1)  # = 2.5819888");
  }
};

}  // namespace

void RegisterVarianceOps(OpRegistry& registry) {
  registry.BeginFamily("Reductions");
  registry.RegisterOp<VarianceOp, VarianceMaker>("variance");
  registry.RegisterOp<StdOp, StdMaker>("std");
}

}  // namespace pdl
