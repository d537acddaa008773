// Updates of states: in place if that cannot be observed, and for embedding tables only the rows
// that a run uses.
#include "pdl/compiler/layers.h"
#include "pdl/op/error.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

/// Doubles its operand, and fails if the first element is negative, as a plugin's kernel may do.
template <class Context>
class DoubleUnlessNegative : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context&) const override {
    const float* x = inputs[0]->template data<float>();
    float* y = outputs[0]->template data<float>();
    if (x[0] < 0) return MakeUserError(Code::kOperatorUse, "a negative number");
    for (int64_t i = 0; i < inputs[0]->num_elements(); ++i) y[i] = 2 * x[i];
    return llvm::Error::success();
  }
};

struct DoubleUnlessNegativeMaker : OpProtoMaker {
  void Make() override {
    AddComment("Twice x.");
    AddInput("x", "numbers").Accepts(DType::kF32);
    AddOutput("y", "type as x");
    SetInference([](InferenceContext& context) -> llvm::Error {
      Type type = context.input(0);
      context.SetOutput(std::move(type));
      return llvm::Error::success();
    });
  }
};

REGISTER_OP(DoubleUnlessNegative, DoubleUnlessNegativeMaker, "double_unless_negative");

const void* AddressOf(const Scope& scope, const std::string& name) {
  return scope.Find(name)->Get<Tensor>()->raw();
}

TEST(Updates, AreWrittenOverTheStateThatNobodyElseRefersTo) {
  auto network = MakeNetwork(
      "input x: f32[N]\nstate a: f32[3] = ones()\noutput y = a * 2\nupdate a = a + sum(x)\n");
  Scope scope;
  Feed(scope, "x", F32({2}, {1, 2}));
  ASSERT_FALSE(RunOnce(*network, scope));
  const void* first = AddressOf(scope, "a");
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(AddressOf(scope, "a"), first);
  EXPECT_EQ(Printed(scope, "a"), "[7.0, 7.0, 7.0]");
  EXPECT_EQ(Printed(scope, "y"), "[8.0, 8.0, 8.0]");
  // A copy shares the memory, and must not change.
  const Tensor held = *scope.Find("a")->Get<Tensor>();
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(TensorToString(held), "[7.0, 7.0, 7.0]");
  EXPECT_EQ(Printed(scope, "a"), "[10.0, 10.0, 10.0]");
  EXPECT_NE(AddressOf(scope, "a"), first);
}

TEST(Updates, AllSeeWhatWasBefore) {
  auto network = MakeNetwork(
      "state a: f32[2] = ones()\nstate b: f32[2] = zeros()\nstate c: f32[2] = zeros()\n"
      "output old = c\nnext = a + b + 1\nupdate b = b + 10 * a\nupdate c = a\nupdate a = next\n");
  Scope scope;
  for (int i = 0; i < 3; ++i) ASSERT_FALSE(RunOnce(*network, scope));
  // a: 1 2 13 44; b: 0 10 30 160; c: 0 1 2 13
  EXPECT_EQ(Printed(scope, "a"), "[44.0, 44.0]");
  EXPECT_EQ(Printed(scope, "b"), "[160.0, 160.0]");
  EXPECT_EQ(Printed(scope, "c"), "[13.0, 13.0]");
  EXPECT_EQ(Printed(scope, "old"), "[2.0, 2.0]");
}

TEST(Updates, AnOutputMayBeTheNextValueOfTheStateOfItsName) {
  auto network = MakeNetwork("state a: f32[2] = ones()\nupdate a = a * 2\noutput a\n");
  Scope scope;
  for (int i = 0; i < 3; ++i) ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "a"), "[8.0, 8.0]");
}

TEST(Updates, ReadAnInputThatAnOutputReplaces) {
  auto network = MakeNetwork(
      "input x: f32[2]\nstate a: f32[2] = ones()\nupdate a = a + x * 2\noutput x = -x\n");
  Scope scope;
  Feed(scope, "x", F32({2}, {1, 2}));
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "a"), "[3.0, 5.0]");
  EXPECT_EQ(Printed(scope, "x"), "[-1.0, -2.0]");
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "a"), "[1.0, 1.0]");
}

TEST(Updates, OfARunThatFailsAreNotStored) {
  auto network = MakeNetwork(
      "input x: f32[N]\nstate a: f32[2] = ones()\nstate b: f32[2] = ones()\n"
      "output y = sum(x)\nupdate a = a * sum(x)\nupdate b = log(b - sum(x))\n");
  Scope scope;
  Feed(scope, "x", F32({1}, {0.5}));
  ASSERT_FALSE(RunOnce(*network, scope));
  const std::string a = Bytes(scope, "a"), b = Bytes(scope, "b");
  RunOptions checked;
  checked.check_finite = true;
  Feed(scope, "x", F32({1}, {2}));
  EXPECT_NE(Message(RunOnce(*network, scope, checked)).find("log: gives nan"), std::string::npos);
  std::atomic<bool> cancel = true;
  RunOptions cancelled;
  cancelled.cancel = &cancel;
  EXPECT_NE(Message(RunOnce(*network, scope, cancelled)), "");
  EXPECT_EQ(Bytes(scope, "a"), a);
  EXPECT_EQ(Bytes(scope, "b"), b);
  Feed(scope, "x", F32({1}, {-1}));
  ASSERT_FALSE(RunOnce(*network, scope, checked));
  EXPECT_EQ(Printed(scope, "a"), "[-0.5, -0.5]");
}

TEST(Updates, OfACallThatFailsAreNotStored) {
  auto network = MakeNetwork(
      "input x: f32[2]\nstate a: f32[2] = ones()\nstate b: f32[2] = ones()\n"
      "output y = sum(x)\nupdate a = a + x\nupdate b = double_unless_negative(b)\n");
  ASSERT_TRUE(network);
  Scope scope;
  Feed(scope, "x", F32({2}, {1, 2}));
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "b"), "[2.0, 2.0]");
  Feed(scope, "b", F32({2}, {-1, 1}));
  Feed(scope, "x", F32({2}, {5, 6}));
  EXPECT_NE(Message(RunOnce(*network, scope)).find("a negative number"), std::string::npos);
  EXPECT_EQ(Printed(scope, "a"), "[2.0, 3.0]");
  EXPECT_EQ(Printed(scope, "b"), "[-1.0, 1.0]");
  EXPECT_EQ(Printed(scope, "y"), "nothing");  // may be overwritten after the previous run
}

// --- Rows of tables -----------------------------------------------------------------------------

/// Two uses of rows of a table; the indices of one are not restricted to its range.
constexpr char kTable[] =
    "input i: i64[N]\ninput j: i64[N, 2] in 0..20000\ninput c: f32[N, 3]\n"
    "state w: f32[20000, 3] = normal()\nstate v: f32[20000, 3] = zeros()\n"
    "state d: f64[20000, 3] = ones()\n";

struct Case {
  const char* name;
  const char* text;  // defines next_w, next_v and next_d
  bool by_rows;
};
constexpr Case kCases[] = {
    {"sgd", "next_w = w - 0.1 * g\nnext_v = v\nnext_d = d\n", true},
    {"adagrad",
     "next_v = v + g ** 2\nnext_d = d + cast(g, to=f64)\nnext_w = w - 0.1 * g / (sqrt(next_v) + "
     "1e-10)\n",
     true},
    {"clipped and scaled",
     "h = clip(g, low=-0.5, high=0.5)\nnext = w - 0.1 * h\nnext_w = w + 0.5 * (next - w)\n"
     "next_v = where(v > 1, v - h, v + h)\nnext_d = d\n",
     true},
    {"scaled by columns",
     "h = clip(g, low=-0.5, high=0.5) * [1.0, 2.0, 3.0]\nnext = w - 0.1 * h\n"
     "next_w = w + 0.5 * (next - w)\nnext_v = v - abs(h)\nnext_d = d\n",
     true},
    {"momentum", "next_v = 0.9 * v + g\nnext_w = w - 0.1 * next_v\nnext_d = d\n", false},
    {"decay", "next_w = w - 0.1 * (g + 0.01 * w)\nnext_v = v\nnext_d = d\n", false},
    {"a norm of rows",
     "next_w = w - 0.1 * g / (1 + sum(g ** 2, axes=[1], keep=true))\nnext_v = v\nnext_d = d\n",
     false},
};

Tensor Indices(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> values) {
  return Tensor::FromValues<int64_t>(DType::kI64, sizes, values);
}

TEST(RowUpdates, AreThoseOfTheWholeTable) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    const std::string text = std::string(kTable) +
                             "g = grad(sum(gather(w, i) ** 2 * c) + sum(gather(w, j) ** 3), w)\n" +
                             each.text;
    auto rows = MakeNetwork(text + "update w = next_w\nupdate v = next_v\nupdate d = next_d\n");
    // A value that is also an output is computed completely.
    auto whole = MakeNetwork(text + "output next_w, next_v, next_d\n");
    ASSERT_TRUE(rows && whole);
    bool by_rows = false;
    for (const Op* op : rows->optimized_graph().ops()) by_rows |= op->type() == "scatter_nd";
    EXPECT_EQ(by_rows, each.by_rows);
    Scope scope, reference;
    for (int64_t step = 0; step < 3; ++step) {
      for (Scope* one : {&scope, &reference}) {
        Feed(*one, "i", Indices({6}, {5, -1, step, 19'999, 5, -20'000}));
        Feed(*one, "j", Indices({6, 2}, {5, 5, 7, 0, 1, 2, 19'999, 3, 3, 3, 3, 9'000 + step}));
        Feed(*one, "c", Noise({6, 3}, static_cast<uint32_t>(step + 1)));
      }
      if (step > 0)
        for (const std::string name : {"w", "v", "d"})
          Feed(reference, name, *reference.Find("next_" + name)->Get<Tensor>());
      ASSERT_FALSE(RunOnce(*rows, scope));
      ASSERT_FALSE(RunOnce(*whole, reference));
      EXPECT_TRUE(scope.Find("w"));
      for (const std::string name : {"w", "v", "d"}) {
        // A state that is updated with its own value need not be stored.
        if (!scope.Find(name)) continue;
        EXPECT_TRUE(Bytes(scope, name) == Bytes(reference, "next_" + name)) << name;
      }
    }
  }
}

TEST(RowUpdates, LeaveOutWhatIsOutsideTheTable) {
  const std::string text = std::string(kTable) +
                           "g = scatter_add(zeros([20000, 3]), i, c)\n"
                           "size = sum(g ** 2)\nnext = w - g / (1 + size)\n";
  auto rows = MakeNetwork(text + "update w = next\noutput size\n");
  auto whole = MakeNetwork(text + "output next, size\n");
  ASSERT_TRUE(rows && whole);
  Scope scope, reference;
  for (Scope* one : {&scope, &reference}) {
    Feed(*one, "i", Indices({8}, {20'000, -20'001, 4, 4, 1 << 20, -1, 0, -(1 << 20)}));
    Feed(*one, "c",
         F32({8, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6}));
  }
  ASSERT_FALSE(RunOnce(*rows, scope));
  ASSERT_FALSE(RunOnce(*whole, reference));
  EXPECT_EQ(Bytes(scope, "size"), Bytes(reference, "size"));
  EXPECT_TRUE(Bytes(scope, "w") == Bytes(reference, "next"));
}

TEST(RowUpdates, OfNoRowsChangeNothing) {
  auto network = MakeNetwork(
      "input i: i64[N]\nstate w: f32[20000, 2] = ones()\n"
      "update w = w - scatter_add(zeros([20000, 2]), i, ones([N, 2]))\n");
  Scope scope;
  Feed(scope, "i", Indices({0}, {}));
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "w").substr(0, 12), "[[1.0, 1.0],");
}

TEST(RowUpdates, AreLazyWhereToldSo) {
  auto network = MakeNetwork(
      "input i: i64[N] in 0..4\nstate w: f32[4, 1] = ones()\nstate m: f32[4, 1] = ones()\n"
      "g = lazy_rows(grad(sum(gather(w, i)), w))\n"
      "update m = 0.5 * m + g\nupdate w = w - m\n");
  Scope scope;
  Feed(scope, "i", Indices({3}, {2, 0, 2}));
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "m"), "[[1.5],\n [1.0],\n [2.5],\n [1.0]]");
  EXPECT_EQ(Printed(scope, "w"), "[[-0.5],\n [ 1.0],\n [-1.5],\n [ 1.0]]");
}

TEST(RowUpdates, AreOfAllRowsWhereTheGradientIs) {
  // Half of the gradient comes from the complete table.
  auto network = MakeNetwork(
      "input i: i64[N] in 0..4\nstate w: f32[4, 1] = ones()\nstate m: f32[4, 1] = ones()\n"
      "g = lazy_rows(grad(sum(gather(w, i)) + sum(w), w))\nupdate m = 0.5 * m + g\n");
  Scope scope;
  Feed(scope, "i", Indices({1}, {2}));
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "m"), "[[1.5],\n [1.5],\n [2.5],\n [1.5]]");
}

}  // namespace
}  // namespace pdl
