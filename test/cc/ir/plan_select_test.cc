// Conditions that are decided when a Plan is made: training() and sizes.
#include "pdl/compiler/emit.h"
#include "pdl/compiler/passes.h"
#include "pdl/compiler/serialize.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

class PlanSelect : public testing::Test {
 protected:
  std::string Run(const Network& network, bool training = false,
                  std::vector<std::string> outputs = {}) {
    RunOptions options;
    options.training = training;
    options.outputs = std::move(outputs);
    return Message(network.Run(&scope_, &context_, options));
  }
  /// The plan without its header.
  std::string Describe(const Network& network, bool training,
                       const llvm::StringMap<int64_t>& sizes = {}) {
    RunOptions options;
    options.training = training;
    return Unwrap(network.DescribePlan(&context_, options, sizes));
  }

  CPUContext context_;
  Scope scope_;
};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(PlanSelect, TrainingChoosesASideAndItsInputs) {
  auto network = MakeNetwork(R"(
input a: f32[2]
input b: f32[2]
t = training()
y = plan_select(t, cos(a), b + 1.0)
output y
)");
  Feed(scope_, "b", F32({2}, {1, 2}));
  EXPECT_EQ(Run(*network), "");
  EXPECT_EQ(Printed(scope_, "y"), "[2.0, 3.0]");
  EXPECT_TRUE(Contains(Run(*network, true), "no value for input 'a': f32[2]"));
  Feed(scope_, "a", F32({2}, {0, 0}));
  EXPECT_EQ(Run(*network, true), "");
  EXPECT_EQ(Printed(scope_, "y"), "[1.0, 1.0]");
  EXPECT_EQ(Run(*network, false), "");
  EXPECT_EQ(Printed(scope_, "y"), "[2.0, 3.0]");
}

TEST_F(PlanSelect, ThePlanHoldsOneSide) {
  auto network = MakeNetwork(R"(
input a: f32[N, 2]
y = plan_select(training(), cos(a), sin(a))
z = plan_select(size([N]) > 4, y * 2.0, y)
output z
)");
  std::string plan = Describe(*network, false, {{"N", 8}});
  EXPECT_TRUE(Contains(plan, "  select y = otherwise  # m.pdl:3:5\n  select z = then")) << plan;
  EXPECT_TRUE(Contains(plan, "sin(")) << plan;
  EXPECT_FALSE(Contains(plan, "cos(")) << plan;
  EXPECT_TRUE(Contains(plan, "mul(")) << plan;
  plan = Describe(*network, true, {{"N", 4}});
  EXPECT_TRUE(Contains(plan, "select y = then")) << plan;
  EXPECT_FALSE(Contains(plan, "mul(")) << plan;
  EXPECT_FALSE(Contains(plan, "sin(")) << plan;
  EXPECT_EQ(Message(network->DescribePlan(&context_, {}, {})),
            "m.pdl:4:5: 'z' depends on the size N of input 'a', which is not given [PDL0501]");
}

TEST_F(PlanSelect, SizesChooseInTurn) {
  auto network = MakeNetwork(R"(
input x: f32[2*N]
y = plan_select(size([N]) % 2 == 0, sum(x), max(x))
output y
)");
  for (int round = 0; round < 3; ++round) {
    Feed(scope_, "x", F32({4}, {1, 2, 3, 4}));
    EXPECT_EQ(Run(*network), "");
    EXPECT_EQ(Printed(scope_, "y"), "10.0");
    Feed(scope_, "x", F32({6}, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(Run(*network), "");
    EXPECT_EQ(Printed(scope_, "y"), "6.0");
    Feed(scope_, "x", F32({8}, {1, 1, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(Run(*network), "");
    EXPECT_EQ(Printed(scope_, "y"), "8.0");
  }
  Feed(scope_, "x", F32({3}, {1, 2, 3}));
  EXPECT_TRUE(Contains(Run(*network), "which is not given") ||
              Contains(Run(*network), "input 'x' is declared"));
}

TEST_F(PlanSelect, NestedAndSelectedConditions) {
  auto network = MakeNetwork(R"(
input x: f32[N]
t = training()
inner = plan_select(size([N]) >= 2, x + 1.0, x + 2.0)
which = plan_select(t, size([N]) == 3, not t)
y = plan_select(which, inner, x * 10.0)
output y
)");
  Feed(scope_, "x", F32({1}, {1}));
  EXPECT_EQ(Run(*network), "");
  EXPECT_EQ(Printed(scope_, "y"), "[3.0]");
  EXPECT_EQ(Run(*network, true), "");
  EXPECT_EQ(Printed(scope_, "y"), "[10.0]");
  Feed(scope_, "x", F32({3}, {1, 2, 3}));
  EXPECT_EQ(Run(*network, true), "");
  EXPECT_EQ(Printed(scope_, "y"), "[2.0, 3.0, 4.0]");
}

TEST_F(PlanSelect, AnUpdateThatKeepsTheStateCostsNothing) {
  auto network = MakeNetwork(R"(
input x: f32[2]
state seen: f32[2] = zeros()
update seen = plan_select(training(), seen + x, seen)
y = x * 2.0
output y
)");
  Feed(scope_, "x", F32({2}, {1, 2}));
  EXPECT_EQ(Run(*network), "");
  EXPECT_EQ(Printed(scope_, "seen"), "nothing");
  EXPECT_FALSE(Contains(Describe(*network, false), "update"));
  EXPECT_EQ(Run(*network, true), "");
  EXPECT_EQ(Run(*network, true), "");
  EXPECT_EQ(Printed(scope_, "seen"), "[2.0, 4.0]");
  EXPECT_EQ(Run(*network), "");
  EXPECT_EQ(Printed(scope_, "seen"), "[2.0, 4.0]");
}

TEST_F(PlanSelect, TrainingIsAValueToo) {
  auto network = MakeNetwork("input x: f32[2]\ny = cast(training(), to=f32) + x\noutput y\n");
  Feed(scope_, "x", F32({2}, {1, 2}));
  EXPECT_EQ(Run(*network, true), "");
  EXPECT_EQ(Printed(scope_, "y"), "[2.0, 3.0]");
  EXPECT_EQ(Run(*network), "");
  EXPECT_EQ(Printed(scope_, "y"), "[1.0, 2.0]");
}

TEST_F(PlanSelect, SizesComeFromInputsThatAreRead) {
  auto network = MakeNetwork(R"(
input unused: f32[N]
input x: f32[N]
y = plan_select(size([N]) > 2, x + 1.0, x - 1.0)
output y
u = unused * 2.0
output u
)");
  // The tensor of the last batch has a different size.
  Feed(scope_, "unused", F32({1}, {5}));
  Feed(scope_, "x", F32({3}, {1, 2, 3}));
  EXPECT_EQ(Run(*network, false, {"y"}), "");
  EXPECT_EQ(Printed(scope_, "y"), "[2.0, 3.0, 4.0]");
  EXPECT_TRUE(Contains(Run(*network), "'N' is 1 by input 'unused' and 3 by input 'x'"));
}

TEST_F(PlanSelect, PassesDecideWhatIsConstant) {
  auto network = MakeNetwork(R"(
input x: f32[3]
a = plan_select(size([3, 2]) == 6, cos(x), sin(x))
b = plan_select(training(), x, x)
c = plan_select(training(), a, a + b)
output c
)");
  std::string optimized = EmitIr(network->optimized_graph());
  EXPECT_FALSE(Contains(optimized, "sin(")) << optimized;
  EXPECT_FALSE(Contains(optimized, "b:")) << optimized;
  EXPECT_TRUE(Contains(optimized, "training()")) << optimized;
  EXPECT_TRUE(Contains(EmitIr(network->graph()), "sin("));
  Feed(scope_, "x", F32({3}, {0, 0, 0}));
  EXPECT_EQ(Run(*network), "");
  EXPECT_EQ(Printed(scope_, "c"), "[1.0, 1.0, 1.0]");
}

TEST_F(PlanSelect, WithoutPassesTheSame) {
  NetworkOptions options;
  options.optimize = false;
  auto network = MakeNetwork(R"(
input x: f32[N]
y = plan_select(1 > 2, x, plan_select(size([N]) == 2, x * 3.0, x * 4.0))
output y
)",
                             options);
  Feed(scope_, "x", F32({2}, {1, 2}));
  EXPECT_EQ(Run(*network), "");
  EXPECT_EQ(Printed(scope_, "y"), "[3.0, 6.0]");
}

std::string Mistakes(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", text);
  request.registry = &GlobalRegistry();
  CompileResult result = Compile(request);
  std::string mistakes;
  llvm::raw_string_ostream os(mistakes);
  result.diagnostics.Render(os);
  return mistakes;
}

TEST_F(PlanSelect, RefusesWhatAPlanDoesNotKnow) {
  std::string head = "input x: f32[3]\ninput z: f32[2]\n";
  for (std::string condition :
       {"max(x) > 0.5", "sum(uniform([2])) > 0.5", "max(x) > 0.5 and training()"}) {
    std::string mistakes =
        Mistakes(head + "y = plan_select(" + condition + ", x, x * 2.0)\noutput y\n");
    EXPECT_TRUE(Contains(mistakes, "must be known when a run is planned")) << mistakes;
  }
  EXPECT_TRUE(Contains(Mistakes(head + "y = plan_select(training(), x, z)\noutput y\n"),
                       "sizes differ: 3 and 2"));
}

TEST_F(PlanSelect, SizesOfBothSidesMustAgree) {
  auto network = MakeNetwork(R"(
input a: f32[N]
input b: f32[M]
y = plan_select(training(), a, b)
output y
)");
  EXPECT_TRUE(Contains(EmitIr(network->graph()), "where N == M"));
  Feed(scope_, "a", F32({2}, {1, 2}));
  Feed(scope_, "b", F32({3}, {1, 2, 3}));
  EXPECT_EQ(Run(*network), "");
  EXPECT_EQ(Printed(scope_, "y"), "[1.0, 2.0, 3.0]");
}

TEST_F(PlanSelect, AFailedRunChangesNoState) {
  auto network = MakeNetwork(R"(
input x: f32[N]
state n: f32[] = zeros()
update n = plan_select(training(), n + 1.0, n)
y = plan_select(size([N]) > 2, reshape(x, [2, N // 2]), zeros([2, N // 2]))
output y
)");
  Feed(scope_, "x", F32({4}, {1, 2, 3, 4}));
  EXPECT_EQ(Run(*network, true), "");
  Feed(scope_, "x", F32({3}, {1, 2, 3}));
  EXPECT_NE(Run(*network, true), "");
  EXPECT_EQ(Printed(scope_, "n"), "1.0");
}

TEST_F(PlanSelect, RunsLeaveOutWhatOnlyTrainingNeeds) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl",
                                              "input x: f32[2]\nparam w: f32[2] = ones()\n"
                                              "y = x * w\nloss = sum(y)\noutput y\n"
                                              "output loss\n");
  request.registry = &GlobalRegistry();
  Graph graph = std::move(*Compile(request).graph);
  const auto y = graph.FindValue("y");
  const auto loss = graph.FindValue("loss");
  graph.ClearOutputs();
  graph.AddOutput("y", y);
  graph.AddTraining({loss, {graph.FindValue("w")}, 2, "sgd(lr=0.1)", kUnknownLocation});
  EXPECT_TRUE(Contains(EmitPdl(graph), "minimize loss over [w] with sgd(lr=0.1) every 2\n"));
  Graph kept = graph.Clone();
  EliminateDeadCode(kept);
  EXPECT_NE(kept.FindValue("loss"), nullptr);
  EXPECT_EQ(kept.trainings()[0].loss, kept.FindValue("loss"));
  auto network = Unwrap(Network::Create(std::move(graph), {}, GlobalRegistry()));
  EXPECT_EQ(network->optimized_graph().FindValue("loss"), nullptr);
  EXPECT_NE(network->graph().FindValue("loss"), nullptr);
  EXPECT_EQ(network->graph().trainings().size(), 1u);
}

/// A network whose values have names with dots, as inside layers.
TEST_F(PlanSelect, NamesWithDots) {
  Graph graph;
  auto def = [](const char* op) -> const OpDef& { return *GlobalRegistry().Find(op); };
  CallOptions in_block;
  in_block.block = graph.AddBlock();
  Op* ones =
      Unwrap(graph.AddOp(def("ones"), {}, {{"dims", Shape{Dim(2)}}}, {"hidden.w.init"}, in_block));
  graph.SetBlockOutputs(in_block.block, {ones->result()});
  VariableInfo info;
  info.initializer = in_block.block;
  const auto w = graph.AddParameter("hidden.w", Type(DType::kF32, {Dim(2)}), info);
  const auto s = graph.AddState("hidden.0.s", Type(DType::kF32, {Dim(2)}), info);
  const auto x = graph.AddInput("part.x", Type(DType::kF32, {Dim(2)}));
  Op* y = Unwrap(graph.AddOp(def("mul"), {x, w}, {}, {"hidden.0.y"}));
  graph.AddUpdate(s, y->result());
  graph.AddOutput("part.y", y->result());
  std::string bytes = Unwrap(SerializeNetwork(graph));
  Graph again = Unwrap(DeserializeNetwork(bytes, "m.pdlc", GlobalRegistry()));
  EXPECT_EQ(EmitIr(again), EmitIr(graph));
  NetworkOptions options;
  const float three[] = {3, 4};
  options.weights["hidden.w"] = Constant::Copy(DType::kF32, {2}, three);
  auto network = Unwrap(Network::Create(std::move(again), options, GlobalRegistry()));
  Feed(scope_, "part.x", F32({2}, {1, 2}));
  EXPECT_EQ(Run(*network, false, {"part.y"}), "");
  EXPECT_EQ(Printed(scope_, "part.y"), "[3.0, 8.0]");
  EXPECT_EQ(Printed(scope_, "hidden.0.s"), "[3.0, 8.0]");
}

TEST_F(PlanSelect, BothSidesAreStored) {
  auto network =
      MakeNetwork("input a: f32[N]\ny = plan_select(training(), cos(a), sin(a))\noutput y\n");
  std::string bytes = Unwrap(SerializeNetwork(network->graph()));
  Graph again = Unwrap(DeserializeNetwork(bytes, "m.pdlc", GlobalRegistry()));
  EXPECT_EQ(EmitIr(again), EmitIr(network->graph()));
}

}  // namespace
}  // namespace pdl
