#include "pdl/compiler/passes.h"

#include <cmath>

#include "gtest/gtest.h"
#include "pdl/compiler/emit.h"
#include "pdl/op/error.h"
#include "test/cc/testing/toy_ops.h"

namespace pdl {
namespace {

using toy::Call;
using toy::F32;
using toy::In;
using toy::Registry;

std::vector<std::string> TypesOf(const Graph& graph, BlockId block = {}) {
  std::vector<std::string> types;
  for (const Op* op : graph.block(block).ops) types.push_back(op->type());
  return types;
}
using Types = std::vector<std::string>;

/// Adds vectors of equal length; computes nothing else.
llvm::Expected<std::optional<std::vector<Constant>>> Evaluate(const Op& op,
                                                              llvm::ArrayRef<Constant> operands) {
  if (op.type() == "zeros") {
    std::vector<char> bytes(1 << 16, 0);
    std::vector<int64_t> sizes;
    for (const Dim& dim : op.result()->type().dims) sizes.push_back(dim.constant());
    return std::optional(std::vector{Constant::Copy(DType::kF32, sizes, bytes.data())});
  }
  if (op.type() == "halves") {
    const float* x = operands[0].values<float>().data();
    int64_t half = operands[0].num_elements() / 2;
    return std::optional(std::vector{Constant::Copy(DType::kF32, {half}, x),
                                     Constant::Copy(DType::kF32, {half}, x + half)});
  }
  if (op.type() == "cos") return MakeUserError(Code::kSizeCheck, "no cosines");
  if (op.type() != "add") return std::nullopt;
  std::vector<float> sum;
  for (int64_t i = 0; i < operands[0].num_elements(); ++i)
    sum.push_back(operands[0].values<float>()[i] + operands[1].values<float>()[i]);
  return std::optional(std::vector{Constant::Copy(DType::kF32, operands[0].sizes(), sum.data())});
}

void Fold(Graph& graph, int64_t max_bytes = 1 << 20) {
  llvm::Error error = FoldConstants(graph, Registry(), Evaluate, max_bytes);
  EXPECT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
}

TEST(EliminateDeadCode, KeepsWhatOutputsUpdatesAndEffectsNeed) {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N")}));
  Value* s = graph.AddState("s", Type(DType::kF32, {Dim::Symbol("N")}), {});
  Value* a = Call(graph, "cos", {x}, {"a"})->result();
  Value* dead = Call(graph, "add", {a, a}, {"dead"})->result();
  Call(graph, "sub", {dead, a}, {"dead_too"});
  Value* b = Call(graph, "add", {a, s}, {"b"})->result();
  Value* shown = Call(graph, "cos", {b}, {"shown"})->result();
  Call(graph, "print", {shown}, {"ignored"});
  Value* next = Call(graph, "sub", {s, x}, {"next"})->result();
  graph.AddOutput("y", b);
  graph.AddUpdate(s, next);
  EliminateDeadCode(graph);
  EXPECT_EQ(TypesOf(graph), (Types{"cos", "add", "cos", "print", "sub"}));
  EXPECT_EQ(a->uses().size(), 1u);
  EXPECT_EQ(graph.FindValue("dead"), nullptr);
}

TEST(EliminateDeadCode, SweepsBlocksAndKeepsCallsOfBlocksWithEffects) {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim(3)}));
  BlockId loud = graph.AddBlock(), quiet = graph.AddBlock();
  for (BlockId block : {loud, quiet}) {
    std::string suffix = std::to_string(block.index);
    Value* in = graph.AddBlockInput(block, "in" + suffix, x->type());
    Call(graph, "cos", {in}, {"unused" + suffix}, {}, In(block));
    Value* out = Call(graph, block == loud ? "print" : "cos", {in}, {"out" + suffix}, {}, In(block))
                     ->result();
    graph.SetBlockOutputs(block, {out});
  }
  Call(graph, "call", {x}, {"a"}, {{"body", loud}});
  Call(graph, "call", {x}, {"b"}, {{"body", quiet}});
  EliminateDeadCode(graph);
  ASSERT_EQ(graph.ops().size(), 1u);
  EXPECT_EQ(graph.ops()[0]->result()->name(), "a");
  EXPECT_EQ(TypesOf(graph, loud), Types{"print"});
}

TEST(EliminateCommonSubexpressions, MergesEqualCalls) {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N")}));
  Value* y = graph.AddInput("y", Type(DType::kF32, {Dim::Symbol("N")}));
  Value* a = Call(graph, "add", {x, y}, {"a"})->result();
  Value* b = Call(graph, "add", {y, x}, {"b"})->result();  // commutative
  Value* c = Call(graph, "sub", {a, b}, {"c"})->result();
  Value* d = Call(graph, "sub", {b, a}, {"d"})->result();  // equal after b and a are merged
  Value* e = Call(graph, "sub", {x, y}, {"e"})->result();
  Value* f = Call(graph, "sub", {y, x}, {"f"})->result();  // not commutative
  Value* s = graph.AddState("s", x->type(), {});
  for (Value* value : {c, d, e, f}) graph.AddOutput(value->name(), value);
  graph.AddUpdate(s, d);
  EliminateCommonSubexpressions(graph);
  EXPECT_EQ(TypesOf(graph), (Types{"add", "sub", "sub", "sub"}));
  EXPECT_EQ(graph.outputs()[1].value, c);
  EXPECT_EQ(graph.updates()[0].value, c);
  EXPECT_EQ(a->uses().size(), 2u);
}

TEST(EliminateCommonSubexpressions, ComparesAttributesBitForBit) {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N")}));
  auto add = [&](std::string name, double f) {
    graph.AddOutput(name, Call(graph, "every_kind", {x}, {name}, {{"f", f}})->result());
  };
  add("zero", 0.0);
  add("minus_zero", -0.0);
  add("nan", std::nan(""));
  add("nan_again", std::nan(""));
  EliminateCommonSubexpressions(graph);
  EXPECT_EQ(graph.ops().size(), 3u);
  EXPECT_EQ(graph.outputs()[3].value, graph.outputs()[2].value);
}

TEST(EliminateCommonSubexpressions, LeavesRandomEffectAndFreshSizesApart) {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N")}));
  for (const char* op : {"print", "nonzero"})
    for (const char* name : {"a", "b"})
      graph.AddOutput(op + std::string(name),
                      Call(graph, op, {x}, {op + std::string(name)})->result());
  for (const char* name : {"r1", "r2"})
    Call(graph, "uniform", {}, {name}, {{"shape", Shape{Dim(2)}}});
  EliminateCommonSubexpressions(graph);
  EXPECT_EQ(TypesOf(graph), (Types{"print", "print", "nonzero", "nonzero", "uniform", "uniform"}));
}

TEST(EliminateCommonSubexpressions, MergesAllResultsOfACall) {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim(4)}));
  Op* first = Call(graph, "halves", {x}, {"a", "b"});
  Op* second = Call(graph, "halves", {x}, {"c", "d"});
  Value* sum = Call(graph, "sub", {first->result(0), second->result(1)}, {"s"})->result();
  graph.AddOutput("s", sum);
  EliminateCommonSubexpressions(graph);
  EXPECT_EQ(TypesOf(graph), (Types{"halves", "sub"}));
  EXPECT_EQ(sum->producer()->operands()[1], first->result(1));
}

TEST(FoldConstants, ReplacesTheLastKnownCall) {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim(2)}));
  Value* a = F32(graph, {1, 2}, "a");
  Value* b = Call(graph, "add", {a, a}, {"b"})->result();
  Value* z = Call(graph, "zeros", {}, {"z"}, {{"shape", Shape{Dim(2)}}})->result();
  Value* c = Call(graph, "add", {b, z}, {"c"})->result();
  Value* y = Call(graph, "sub", {x, c}, {"y"})->result();
  graph.AddOutput("y", y);
  graph.AddOutput("z", z);
  Fold(graph);
  EliminateDeadCode(graph);
  // `zeros` is used by an output; a call without operands is not replaced.
  EXPECT_EQ(TypesOf(graph), (Types{"zeros", "constant", "sub"}));
  EXPECT_EQ(c->producer()->attributes().Tensor("value").values<float>(),
            (llvm::ArrayRef<float>{2, 4}));
}

TEST(FoldConstants, LeavesWhatItMustNotTouch) {
  Graph graph;
  Value* a = F32(graph, {1, 2}, "a");
  Value* random = Call(graph, "uniform", {}, {"random"}, {{"shape", Shape{Dim(2)}}})->result();
  Value* large = Call(graph, "zeros", {}, {"large"}, {{"shape", Shape{Dim(64)}}})->result();
  std::vector<Value*> outputs = {
      Call(graph, "add", {a, random}, {"o1"})->result(),
      Call(graph, "print", {a}, {"o2"})->result(),
      Call(graph, "add", {large, large}, {"o3"})->result(),  // larger than allowed
      Call(graph, "cos", {a}, {"o4"})->result(),             // fails
      Call(graph, "sub", {a, a}, {"o5"})->result(),          // the evaluator will not
      Call(graph, "every_kind", {a}, {"o6"}, {{"shape", Shape{Dim::Symbol("N")}}})->result(),
  };
  for (Value* output : outputs) graph.AddOutput(output->name(), output);
  Types before = TypesOf(graph);
  Fold(graph, 128);
  EXPECT_EQ(TypesOf(graph), before);
}

TEST(FoldConstants, SeesThroughCallsOfSeveralResults) {
  Graph graph;
  Op* halves = Call(graph, "halves", {F32(graph, {1, 2, 3, 4}, "a")}, {"low", "high"});
  Value* sum = Call(graph, "add", {halves->result(0), halves->result(1)}, {"sum"})->result();
  graph.AddOutput("sum", sum);
  Fold(graph);
  EliminateDeadCode(graph);
  EXPECT_EQ(TypesOf(graph), Types{"constant"});
  EXPECT_EQ(sum->producer()->attributes().Tensor("value").values<float>(),
            (llvm::ArrayRef<float>{4, 6}));
}

TEST(FoldConstants, GivesUpWhenTheDeviceFails) {
  Graph graph;
  graph.AddOutput("y", Call(graph, "cos", {F32(graph, {1}, "a")}, {"y"})->result());
  auto fails =
      [](const Op&,
         llvm::ArrayRef<Constant>) -> llvm::Expected<std::optional<std::vector<Constant>>> {
    return MakeDeviceError("out of memory");
  };
  llvm::Error error = FoldConstants(graph, Registry(), fails);
  EXPECT_EQ(llvm::toString(std::move(error)), "out of memory");
}

TEST(Passes, AreLinear) {
  // All calls use one constant and form one chain: long use lists, a deep graph.
  constexpr int kCalls = 100000;
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim(1)}));
  Value* one = F32(graph, {1}, "one");
  Value* known = one;
  Value* deep = x;
  for (int i = 0; i < kCalls / 4; ++i) {
    std::string n = std::to_string(i);
    known = Call(graph, "add", {known, one}, {"k" + n})->result();
    Value* shifted = Call(graph, "add", {x, known}, {"s" + n})->result();
    Value* same = Call(graph, "add", {known, x}, {"t" + n})->result();
    deep = Call(graph, "add", {deep, i % 2 ? shifted : same}, {"d" + n})->result();
    graph.AddOutput("o" + n, i % 2 ? same : shifted);
  }
  graph.AddOutput("deep", deep);
  Fold(graph);
  EliminateCommonSubexpressions(graph);
  EliminateDeadCode(graph);
  EXPECT_EQ(graph.ops().size(), 3u * kCalls / 4);
}

TEST(Emit, ShowsCallsTypesAndPlaces) {
  Graph graph;
  uint32_t file = graph.AddFile("model.pdl");
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N")}),
                            graph.AddLocation({file, 1, 7, kUnknownLocation}));
  BlockId block = graph.AddBlock();
  graph.SetBlockOutputs(
      block,
      {Call(graph, "zeros", {}, {"w.init"}, {{"shape", Shape{Dim(3)}}}, In(block))->result()});
  VariableInfo info;
  info.initializer = block;
  info.trainable = false;
  Value* w = graph.AddParameter("w", Type(DType::kF32, {Dim(3)}), info);
  graph.AddConstraint(
      {{Dim::Symbol("N"), DimCheck::Relation::kAtLeast, Dim(1), "too short"}, kUnknownLocation});
  CallOptions options{graph.AddLocation({file, 2, 5, kUnknownLocation}), {}, "encoder.0"};
  Value* y = Call(graph, "cos", {x}, {"y"}, {{"scale", 5.0}}, options)->result();
  Value* t = F32(graph, std::vector<float>(100, 1), "t");
  graph.AddOutput("out \"1\"", y);
  EXPECT_EQ(EmitIr(graph), R"(symbols N
where N >= 1  # too short
input x: f32[N]  # model.pdl:1:7
param w: f32[3] = block 1 with {trainable=false}
y: f32[N] = cos(x, scale=5.0)  # in encoder.0, model.pdl:2:5
t: f32[100] = constant(value=<f32[100]>)
output out "1" = y
block 1 () {
  w.init: f32[3] = zeros(shape=[3], dtype=f32)
  return w.init
}
)");
  std::string dot = EmitDot(graph);
  EXPECT_NE(dot.find("label=\"input x\\nf32[N]\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("label=\"cos\\nscale=5.0\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("label=\"output out \\\"1\\\"\""), std::string::npos) << dot;
  (void)w, (void)t;
}

}  // namespace
}  // namespace pdl
