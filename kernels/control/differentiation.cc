// Gradients as part of a network: gradient, stop_gradient, and lazy_rows.
#include "kernels/core/alias_op.h"
#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/error.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// --- gradient -----------------------------------------------------------------------------------

llvm::Error InferGradient(InferenceContext& context) {
  const Type& y = context.input(0);
  const Type& dy = context.input(1);
  if (y.dtype != dy.dtype || y.rank() != dy.rank()) {
    return context.FailAt({0, 1}, Code::kShapeMismatch,
                          "'dy' must have the type of 'y', {0}, got {1}", y.ToString(),
                          dy.ToString());
  }
  for (unsigned axis = 0; axis < y.rank(); ++axis) {
    if (llvm::Error error =
            context.RequireEqual(y.dims[axis], dy.dims[axis], {0, 1}, "sizes differ"))
      return error;
  }
  const auto count = static_cast<int64_t>(context.num_inputs()) - 2;
  if (context.attributes().Int("count") != count) {
    return context.FailAtAttribute("count", Code::kOperandCount,
                                   "'count' must be the number of xs, {0}", count);
  }
  for (unsigned i = 0; i < count; ++i) {
    Type type = context.input(i + 2);
    type.index_bound.reset();
    context.SetOutput(i, std::move(type));
  }
  return llvm::Error::success();
}

struct GradientMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The derivative of the sum of y * dy with respect to each of xs (a vector-Jacobian "
        "product). In the language this is `grad(loss, x)`, `grad(loss, [a, b])` or `grad(y, x, "
        "dy)`. The call is replaced by the calls of the backward pass (`pdl dump --emit=opt` shows "
        "them), which can be differentiated again.");
    AddInput("y", "any rank; computed from xs").Accepts(kFloatSet).Ragged();
    AddInput("dy", "type as y").Accepts(kFloatSet).Ragged();
    AddInput("xs", "the values to differentiate with respect to")
        .Accepts(kFloatSet)
        .Ragged()
        .Repeatable();
    AddOutput("dx", "the gradient of each of xs, with its type");
    AddAttr<int64_t>("count", "the number of xs").Default(1).AtLeast(1);
    RepeatLastOutput({"count"});
    SetInference(InferGradient);
    AddExample(
        "x = constant([1.0, 2.0], dtype=f32)\ny = gradient(x * x, [1.0, 1.0], x)  # = [2.0, 4.0]");
  }
};

// --- stop_gradient ------------------------------------------------------------------------------

llvm::Error InferSame(InferenceContext& context) {
  context.SetOutput(context.input(0));
  return llvm::Error::success();
}

struct StopGradientMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Returns x, but treats it as a constant when gradients are taken. It has no cost at run "
        "time.");
    AddInput("x", "anything").Accepts(kAnyDType).Ragged().NotDifferentiable();
    AddOutput("y", "x; type as x").TypeOf("x");
    properties().is_identity = true;
    properties().moves_elements = true;
    SetInference(InferSame);
    SetGradient([](GradientContext&) {});
    AddExample("y = stop_gradient([1.0, 2.0])  # = [1.0, 2.0]");
  }
};

// --- lazy_rows ----------------------------------------------------------------------------------

struct LazyRowsMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Returns x, the gradient of a parameter whose rows are 0 where a step did not use them "
        "(the rows that no index of `gather` or of an embedding selected). If the new value of a "
        "state is computed from the result, those rows may keep their old values, so that the cost "
        "of a step depends only on the rows that it uses. `lazy=true` of an optimizer in "
        "`minimize` inserts it.");
    AddInput("x", "the gradient").Accepts(kFloatSet);
    AddOutput("y", "x; type as x").TypeOf("x");
    properties().elementwise = true;
    properties().is_identity = true;
    SetInference(InferSame);
    SetGradient([](GradientContext& g) { g.SetInputGradient(0, g.output_gradient()); });
    AddExample("y = lazy_rows([1.0, 2.0])  # = [1.0, 2.0]");
  }
};

}  // namespace

void RegisterDifferentiationOps(OpRegistry& registry) {
  registry.BeginFamily("Gradients");
  registry.Add(GradientMaker().Build("gradient"));
  registry.RegisterOp<AliasOp, StopGradientMaker>("stop_gradient");
  registry.RegisterOp<AliasOp, LazyRowsMaker>("lazy_rows");
}

}  // namespace pdl
