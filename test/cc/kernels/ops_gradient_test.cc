// Properties of gradient rules that `pdl gradcheck` does not check: corners, and calls without a
// kernel.
#include <gtest/gtest.h>

#include "pdl/op/gradient.h"
#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

TEST(Gradients, PlanSelectGivesZerosToTheOtherSide) {
  Graph graph;
  const auto add = [&](const char* op, std::vector<Value*> operands) {
    const OpDef& def = *GlobalRegistry().Find(op);
    return llvm::cantFail(graph.AddOp(def, operands, {}, {graph.NewName(op)}));
  };
  const Type type(DType::kF32, {Dim::Symbol("N"), Dim(2)});
  Value* a = graph.AddInput("a", type);
  Value* b = graph.AddInput("b", type);
  Value* dy = graph.AddInput("dy", type);
  Op* select = add("plan_select", {add("training", {})->result(), a, b});
  GradientContext context(graph, GlobalRegistry(), *select, {dy});
  select->def().gradient(context);
  llvm::cantFail(context.TakeError());
  EXPECT_EQ(context.input_gradients()[0], nullptr);
  for (unsigned side : {1u, 2u}) {
    const Op* gradient = context.input_gradients()[side]->producer();
    ASSERT_EQ(gradient->type(), "plan_select");
    EXPECT_EQ(gradient->operands()[0], select->operands()[0]);
    EXPECT_EQ(gradient->operands()[side], dy);
    EXPECT_EQ(gradient->operands()[3 - side]->producer()->type(), "zeros");
    EXPECT_TRUE(gradient->result()->type() == type);
  }
}

// Gradients at corners, where calculus defines none, and where the obvious formula gives nan.
TEST(Gradients, AtTheCorners) {
  const auto gradient = [](const char* op, llvm::ArrayRef<double> x, llvm::ArrayRef<double> y) {
    const Sizes sizes = {static_cast<int64_t>(x.size())};
    Graph graph;
    const Type type(DType::kF64, ShapeOf(sizes));
    std::vector<Value*> operands = {graph.AddInput("a", type)};
    std::vector<std::pair<const Value*, Tensor>> feeds = {
        {operands[0], MakeAs(DType::kF64, sizes, x)}};
    if (!y.empty()) {
      operands.push_back(graph.AddInput("b", type));
      feeds.push_back({operands[1], MakeAs(DType::kF64, sizes, y)});
    }
    const OpDef* def = GlobalRegistry().Find(op);
    Op* call = llvm::cantFail(graph.AddOp(*def, operands, {}, {std::string("y")}));
    Value* dy = graph.AddInput("dy", call->result()->type());
    const std::vector<double> ones(x.size(), 1.0);
    feeds.push_back({dy, MakeAs(DType::kF64, Sizes(call->result()->type().rank(), sizes[0]),
                                llvm::ArrayRef<double>(ones).take_front(
                                    call->result()->type().rank() == 0 ? 1 : ones.size()))});
    GradientContext context(graph, GlobalRegistry(), *call, {dy});
    def->gradient(context);
    llvm::cantFail(context.TakeError());
    std::vector<std::vector<double>> results;
    for (const Value* dx : context.input_gradients()) {
      results.push_back(Values(llvm::cantFail(Evaluate(graph, dx, feeds))));
    }
    return results;
  };
  using List = std::vector<double>;
  EXPECT_EQ(gradient("relu", {-1, 0, 2}, {})[0], (List{0, 0, 1}));
  EXPECT_EQ(gradient("abs", {-1, 0, 2}, {})[0], (List{-1, 0, 1}));
  EXPECT_EQ(gradient("max", {3, 1, 3}, {})[0], (List{0.5, 0, 0.5}));
  const auto maximum = gradient("maximum", {1, 2, 3}, {1, 5, 0});
  EXPECT_EQ(maximum[0], (List{0.5, 0, 1}));
  EXPECT_EQ(maximum[1], (List{0.5, 1, 0}));
  const auto pow = gradient("pow", {0, 0, 0, -2}, {2, 0, 1, 3});
  EXPECT_EQ(pow[0], (List{0, 0, 1, 12}));
  EXPECT_EQ((List{pow[1][0], pow[1][1], pow[1][2]}), (List{0, 0, 0}));
  const auto cos_sim = gradient("cos_sim", {0, 0}, {1, 2});
  EXPECT_EQ(cos_sim[0], (List{0, 0}));
  EXPECT_EQ(cos_sim[1], (List{0, 0}));
  EXPECT_EQ(gradient("norm", {0, 0}, {})[0], (List{0, 0}));
  EXPECT_EQ(gradient("leaky_relu", {-1, 0, 2}, {})[0], (List{0.01, 0.01, 1}));
}

}  // namespace
}  // namespace pdl::testing
