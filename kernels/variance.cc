// The operator variance.
#include "kernels/all_ops.h"
#include "kernels/moments.h"
#include "kernels/reduction_helpers.h"
#include "pdl/operator.h"

namespace pdl {
namespace {

template <class Context>
class VarianceOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    llvm::SmallVector<bool, 6> kept(x.sizes.size(), true);
    const auto axes = ReducedAxes(this->attributes(), static_cast<unsigned>(x.sizes.size()));
    for (const unsigned axis : axes) kept[axis] = false;
    auto plan = std::make_shared<MomentsPlan>(x.dtype, x.sizes, kept, ddof_);
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

llvm::Error InferVariance(InferenceContext& context) {
  return InferReduction(context, context.input(0).dtype);
}

// 2 * (x - mean) / (count - ddof).
void VarianceGradient(GradientContext& g) {
  Value* x = g.input(0);
  std::vector<int64_t> axes;
  for (const unsigned axis : ReducedAxes(g)) axes.push_back(axis);
  Value* mean = g.Call("mean", {x}, {{"axes", axes}, {"keep", true}});
  Value* divisor =
      g.Sub(ReducedCount(g), g.Scalar(static_cast<double>(g.attributes().Int("ddof")), x));
  Value* factor = g.Div(g.Mul(g.output_gradient(), g.Scalar(2, x)), divisor);
  g.SetInputGradient(0, g.Mul(g.Sub(x, mean), PutBackAxes(g, factor)));
}

struct VarianceMaker : ReductionMaker {
  void Make() override {
    Declare(
        "The variance over axes: the mean of squared distances from the mean; nan where there is "
        "nothing.",
        kFloatSet, "from 0 on; dtype as x; the dims of x without the axes");
    AddAttr<int64_t>("ddof",
                     "what is taken off the count that the sum of squares is divided by, as NumPy: "
                     "1 estimates the variance of what x is a sample of")
        .Default(0)
        .AtLeast(0);
    AddExample("y = variance([1.0, 2.0, 3.0, 4.0], ddof=1)  # = 1.6666666");
    SetInference(InferVariance);
    SetGradient(VarianceGradient);
  }
};

}  // namespace

void RegisterVarianceOps(OpRegistry& registry) {
  registry.BeginFamily("Reductions");
  registry.RegisterOp<VarianceOp, VarianceMaker>("variance");
}

}  // namespace pdl
