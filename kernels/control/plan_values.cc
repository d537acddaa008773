// Values that are known when a run is planned: training, plan_select. They have no kernels.
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

struct TrainingMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Whether the network runs for training. The value is known when a run is planned, so "
        "`plan_select` accepts it as a condition.");
    AddOutput("y", "bool[]").HasDType(DType::kBool).Rank(0);
    AddExample("rate = plan_select(training(), 0.5, 0.0)  # = 0.0");
    properties().is_training_flag = true;
    SetInference([](InferenceContext& context) -> llvm::Error {
      context.SetOutput(Type(DType::kBool, {}));
      return llvm::Error::success();
    });
  }
};

llvm::Error InferPlanSelect(InferenceContext& context) {
  if (context.input(0).rank() != 0) {
    return context.FailAt({0}, Code::kRank, "'condition' must be bool[], got {0}",
                          context.input(0).ToString());
  }
  if (!context.is_known_to_plan(0)) {
    return context.FailAt({0}, Code::kPlanCondition,
                          "'condition' must be known when a run is planned, but this value is only "
                          "known at run time");
  }
  Type type = context.input(1);
  const Type& other = context.input(2);
  if (other.dtype != type.dtype) {
    return context.FailAt({1, 2}, Code::kDTypeMismatch, "dtypes differ: {0} and {1}",
                          DTypeName(type.dtype), DTypeName(other.dtype));
  }
  if (other.rank() != type.rank()) {
    return context.FailAt({1, 2}, Code::kRank, "ranks differ: {0} and {1}", type.ToString(),
                          other.ToString());
  }
  for (unsigned axis = 0; axis < type.rank(); ++axis) {
    Dim& mine = type.dims[axis];
    const Dim& theirs = other.dims[axis];
    if (llvm::Error error = context.RequireEqual(mine, theirs, {1, 2}, "sizes differ"))
      return error;
    // Two sizes that must be equal: prefer the one that is statically known.
    if (theirs.is_constant()) mine = theirs;
  }
  if (type.index_bound != other.index_bound) type.index_bound.reset();
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

// The gradient goes to the operand that was selected; the other one gets zeros.
void PlanSelectGradient(GradientContext& g) {
  Value* condition = g.input(0);
  Value* dy = g.output_gradient();
  if (!dy) return;
  Value* zeros = g.Call("zeros", {}, {{"dims", dy->type().dims}, {"dtype", dy->type().dtype}});
  g.SetInputGradient(1, g.SumTo(g.Call("plan_select", {condition, dy, zeros}), g.input(1)));
  g.SetInputGradient(2, g.SumTo(g.Call("plan_select", {condition, zeros, dy}), g.input(2)));
}

struct PlanSelectMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Returns `then` if the condition holds, else `otherwise`. Calls that only the other "
        "operand needs are not run, and their inputs need not be fed. The condition may use "
        "`training()`, `size(...)` and constants only: it is evaluated when a run is planned.");
    AddInput("condition", "bool[]").Accepts(DTypeSet(DType::kBool)).OwnDType();
    AddInput("then", "any type").Ragged().Sparse();
    AddInput("otherwise", "type as then").Ragged().Sparse();
    AddOutput("y", "type as then").TypeOf("then");
    AddExample("rate = plan_select(training(), 0.5, 0.0)  # = 0.0");
    properties().is_plan_select = true;
    SetInference(InferPlanSelect);
    // No kernel runs a single call, so nothing can be compared.
    SetGradient(PlanSelectGradient, /*order=*/0);
  }
};

}  // namespace

void RegisterPlanValueOps(OpRegistry& registry) {
  registry.BeginFamily("Conditions of a plan");
  registry.Add(TrainingMaker().Build("training"));
  registry.Add(PlanSelectMaker().Build("plan_select"));
}

}  // namespace pdl
