// Varied and useful values, slices, and the bodies of loops.
#include "pdl/compiler/graph_walk.h"

#include "llvm/ADT/STLExtras.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

class GraphWalk : public testing::Test {
 protected:
  void Compile(const std::string& text) {
    network_ = MakeNetwork(text);
    ASSERT_NE(network_, nullptr);
  }
  const Graph& graph() const { return network_->graph(); }
  Value* Find(const std::string& name) const { return graph().FindValue(name); }
  /// Those of `values` that are in the set.
  std::string In(const ValueSet& set, std::initializer_list<const char*> names) const {
    std::string found;
    for (const char* name : names)
      if (set.contains(Find(name))) found += std::string(found.empty() ? "" : " ") + name;
    return found;
  }
  static std::string Names(llvm::ArrayRef<Value*> values) {
    std::string names;
    for (const Value* value : values) names += (names.empty() ? "" : " ") + value->name();
    return names;
  }

  std::shared_ptr<const Network> network_;
};

constexpr char kDiamond[] = R"(
input x: f32[3]
input y: f32[3]
a = cos(x)
b = sin(y)
n = argmax(a)
c = add(a, b)
d = mul(c, a)
output d
output n
)";

TEST_F(GraphWalk, VariedValuesAreComputedFromInputs) {
  Compile(kDiamond);
  ValueSet varied(graph());
  EXPECT_TRUE(varied.insert(Find("x")));
  EXPECT_FALSE(varied.insert(Find("x")));
  PropagateForward(graph().ops(), varied);
  EXPECT_EQ(In(varied, {"x", "y", "a", "b", "n", "c", "d"}), "x a n c d");

  ValueSet through_floats(graph());
  through_floats.insert(Find("y"));
  PropagateForward(graph().ops(), through_floats,
                   [](const Value* value) { return value->name() != "c"; });
  EXPECT_EQ(In(through_floats, {"x", "y", "a", "b", "n", "c", "d"}), "y b");
}

TEST_F(GraphWalk, OutputsAreComputedFromUsefulValues) {
  Compile(kDiamond);
  ValueSet useful(graph());
  useful.insert(Find("n"));
  PropagateBackward(graph().ops(), useful);
  EXPECT_EQ(In(useful, {"x", "y", "a", "b", "n", "c", "d"}), "x a n");

  // A root is visited even without a useful result, and calls are visited in reverse order.
  ValueSet rooted(graph());
  std::string visited;
  PropagateBackward(
      graph().ops(), rooted, [](const Op& op) { return op.type() == "mul"; },
      [&](Op& op) {
        visited += op.type() + " ";
        rooted.insert(op.operands()[0]);
      });
  EXPECT_EQ(visited, "mul add cos ");
}

TEST_F(GraphWalk, SlicesHoldEachValueOnce) {
  Compile(kDiamond);
  EXPECT_EQ(Names(BackwardSlice(Find("d"))), "d c a b x y");
  EXPECT_EQ(Names(BackwardSlice(Find("d"), AddOperands, WalkOrder::kDepthFirst)), "d a x c b y");
  EXPECT_EQ(Names(BackwardSlice({Find("n"), Find("b")})), "n b a y x");
  auto not_behind_a = [&](Value* value, AddValue add) {
    if (value->name() != "a") AddOperands(value, add);
  };
  EXPECT_EQ(Names(BackwardSlice(Find("d"), not_behind_a)), "d c a b y");
  EXPECT_TRUE(BackwardSlice({}).empty());
}

TEST_F(GraphWalk, ValuesThatAreAddedLaterAreNotInASet) {
  Graph changed;
  ValueSet set(changed);
  Value* late = changed.AddInput("late", Type(DType::kF32, {}));
  EXPECT_FALSE(set.contains(late));
  EXPECT_TRUE(set.insert(late));
  EXPECT_TRUE(set.contains(late));
}

constexpr char kLoop[] = R"(
layer step(x: f32[2], a: f32[2], b: f32[2], u: f32[2]) {
  return a=a * 0.5 + u, b=b + a, y=x * 2.0
}
input u: f32[2]
input v: f32[2]
input xs: f32[T, 2]
y, a, b = scan(xs, axis=0, init=[v, v], captured=[u], body=step())
output y
output a
output b
)";

// A captured value reaches `a` in one step, and `b` in the next one.
TEST_F(GraphWalk, StepsOfALoopCountTogether) {
  Compile(kLoop);
  const Op& loop = *Find("y")->producer();
  const LoopBody body(graph(), loop);
  ASSERT_EQ(body.num_inputs(), 4u);
  ASSERT_EQ(body.num_outputs(), 3u);
  auto all = [](const Value*) { return true; };

  ValueSet varied(graph());
  varied.insert(body.input(3));
  body.PropagateForward(varied, all);
  EXPECT_FALSE(varied.contains(body.output(0)));
  EXPECT_TRUE(varied.contains(body.output(1)));
  EXPECT_TRUE(varied.contains(body.output(2)));
  EXPECT_FALSE(varied.contains(body.input(0)));

  ValueSet useful(graph());
  useful.insert(body.output(2));
  body.PropagateBackward(useful, all, [&](Op& op) { useful.InsertAll(op.operands()); });
  EXPECT_FALSE(useful.contains(body.input(0)));
  EXPECT_TRUE(useful.contains(body.input(3)));
  EXPECT_FALSE(useful.contains(body.output(0)));
  EXPECT_TRUE(useful.contains(body.output(1)));

  // Outside, a loop is a single call.
  ValueSet outside(graph());
  outside.insert(Find("u"));
  PropagateForward(graph().ops(), outside);
  EXPECT_EQ(In(outside, {"y", "a", "b"}), "y a b");
}

}  // namespace
}  // namespace pdl
