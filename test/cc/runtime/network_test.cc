// The contract of Network::Run: values, Errors, states, parameters, outputs.
#include "pdl/runtime/network.h"

#include <atomic>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"
#include "pdl/runtime/run_observer.h"
#include "pdl/runtime/run_profile.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

// Two operators of this program: one counts its runs, one fails if its input contains a 13.
std::atomic<int> counted_runs = 0;

template <typename Context>
class CountedOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    ++counted_runs;
    return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
  }
};

template <typename Context>
class UnluckyOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    for (int64_t i = 0; i < inputs[0]->num_elements(); ++i)
      if (inputs[0]->template data<float>()[i] == 13) return MakeDeviceError("bad luck");
    return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
  }
};

struct CopyMaker : OpProtoMaker {
  void Make() override {
    AddComment("x.");
    AddInput("x", "any").Accepts(DType::kF32);
    AddOutput("y", "x");
    SetInference(InferSameAsFirst);
  }
};

REGISTER_OP(CountedOp, CopyMaker, "test_counted");
REGISTER_OP(UnluckyOp, CopyMaker, "test_unlucky");

/// A device that does not exist.
class FakeContext : public DeviceContext {
 public:
  explicit FakeContext(Device device = {DeviceKind::kCUDA, 0}) : DeviceContext(device) {}
  std::unique_ptr<DeviceContext> Fork() const override { return std::make_unique<FakeContext>(); }
  llvm::Expected<std::shared_ptr<void>> Allocate(int64_t) override { return Fail(); }
  llvm::Error CopyFromHost(void*, const void*, int64_t) override { return Fail(); }
  llvm::Error CopyToHost(void*, const void*, int64_t) override { return Fail(); }
  llvm::Error CopyWithin(void*, const void*, int64_t) override { return Fail(); }
  llvm::Error Synchronize() override { return Fail(); }

 private:
  static llvm::Error Fail() { return MakeDeviceError("there is no such device"); }
};

class NetworkTest : public testing::Test {
 protected:
  void Make(const std::string& text, NetworkOptions options = {}) {
    network_ = MakeNetwork(text, std::move(options));
    ASSERT_NE(network_, nullptr);
  }
  std::string Run(const RunOptions& options = {}) {
    return Message(network_->Run(&scope_, &cpu_, options));
  }
  void FeedX(llvm::ArrayRef<float> values) {
    Feed(scope_, "x", F32({static_cast<int64_t>(values.size())}, values));
  }
  std::string Get(const std::string& name) { return Printed(scope_, name); }

  std::shared_ptr<const Network> network_;
  Scope scope_;
  CPUContext cpu_{1};
};

TEST_F(NetworkTest, RunsAText) {
  Make("input x: f32[N]\ny = cos(x, scale=5.0)\noutput y\n");
  FeedX({0, 1});
  EXPECT_EQ(Run(), "");
  Feed(scope_, "wanted", F32({2}, {5, 2.7015115f}));
  EXPECT_EQ(Bytes(scope_, "y"), Bytes(scope_, "wanted"));
}

/// A device of pdl's kind for CPUs that has no threads.
class ForeignContext final : public FakeContext {
 public:
  ForeignContext() : FakeContext({DeviceKind::kCPU, 0}) {}
};

TEST_F(NetworkTest, RefusesAContextOfAnotherClass) {
  Make("input x: f32[N]\ny = cos(x)\noutput y\noutput z = einsum(x, equation=\"i->\")\n");
  FeedX({0, 1});
  ForeignContext foreign;
  EXPECT_EQ(Message(network_->Run(&scope_, &foreign)),
            "m.pdl:2:5: cos: created for the cpu context of pdl, but given one of another "
            "class [PDL0507]");
  EXPECT_EQ(scope_.Find("y"), nullptr);
}

TEST_F(NetworkTest, RefusesToRunWithoutScopeOrContext) {
  Make("input x: f32[N]\noutput y = cos(x)\n");
  FeedX({0, 1});
  EXPECT_EQ(Message(network_->Run(nullptr, &cpu_)),
            "a run of a network needs a scope, got none [PDL0507]");
  EXPECT_EQ(Message(network_->Run(&scope_, nullptr)),
            "a run of a network needs a context, got none [PDL0507]");
  EXPECT_EQ(Message(network_->DescribePlan(nullptr, {}, {})),
            "the plan of a network needs a context, got none [PDL0507]");
}

TEST_F(NetworkTest, StopsAtTheFirstErrorAndSaysWhichCall) {
  Make(
      "input x: f32[N]\n"
      "a = test_counted(x)\n"
      "b = test_unlucky(a)\n"
      "c = test_counted(b)\n"
      "d = test_unlucky(c * 0 + 13)\n"
      "output d\n");
  FeedX({1, 13});
  counted_runs = 0;
  llvm::Error error = network_->Run(&scope_, &cpu_);
  EXPECT_TRUE(error.isA<DeviceError>());
  EXPECT_EQ(Message(std::move(error)), "m.pdl:3:5: test_unlucky: bad luck");
  EXPECT_EQ(counted_runs, 1) << "what stands behind it must not run";
  FeedX({1, 2});
  EXPECT_EQ(Run(), "m.pdl:5:5: test_unlucky: bad luck");
  EXPECT_EQ(counted_runs, 3);
  EXPECT_EQ(Get("d"), "nothing");
}

TEST_F(NetworkTest, AFailedRunChangesNothingInTheScope) {
  Make(
      "input x: f32[N]\n"
      "state sum: f32[N] = zeros()\n"
      "state runs: f32[] = zeros()\n"
      "update sum = sum + x\n"
      "update runs = runs + 1\n"
      "output y = test_unlucky(x)\n");
  FeedX({13, 1, 1});
  EXPECT_EQ(Run(), "m.pdl:6:12: test_unlucky: bad luck");
  EXPECT_EQ(Get("sum"), "nothing");
  EXPECT_EQ(Get("y"), "nothing");
  FeedX({1, 2});
  EXPECT_EQ(Run(), "") << "the failed run has not fixed the size of 'sum'";
  EXPECT_EQ(Run(), "");
  FeedX({13, 1});
  EXPECT_EQ(Get("y"), "[1.0, 2.0]");
  EXPECT_NE(Run(), "");
  EXPECT_EQ(Get("y"), "nothing") << "no result of an earlier run is taken for one of this";
  EXPECT_EQ(Get("sum"), "[2.0, 4.0]");
  EXPECT_EQ(Get("runs"), "2.0");
  FeedX({1, 1});
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("sum"), "[3.0, 5.0]");
  EXPECT_EQ(Get("runs"), "3.0");
  FeedX({1, 1, 1});
  EXPECT_EQ(Run(),
            "state 'sum' is declared f32[N], but the scope holds f32[2]; reset it to run with "
            "other sizes "
            "[PDL0503]");
}

TEST_F(NetworkTest, StoresUpdatesTogether) {
  Make(
      "state a: f32[2] = ones()\n"
      "state b: f32[2] = zeros()\n"
      "old = a\n"
      "update a = b\n"
      "update b = old\n"
      "output seen = old + 0\n");
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("a") + Get("b") + Get("seen"), "[0.0, 0.0][1.0, 1.0][1.0, 1.0]");
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("a") + Get("b") + Get("seen"), "[1.0, 1.0][0.0, 0.0][0.0, 0.0]");
  Scope other;
  EXPECT_EQ(Message(network_->Run(&other, &cpu_)), "");
  EXPECT_EQ(Printed(other, "seen"), "[1.0, 1.0]") << "each Scope has states of its own";
  EXPECT_EQ(TensorToString(Unwrap(network_->InitialValue("a"))), "[1.0, 1.0]");
}

TEST_F(NetworkTest, ASavedStateIsOneToGoOnFrom) {
  Make("state n: f32[] = zeros()\nupdate n = n + 1\noutput y = n * 10\n");
  Feed(scope_, "n", F32({}, {41}));
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("n") + " " + Get("y"), "42.0 420.0");
}

TEST_F(NetworkTest, ChecksItsInputs) {
  Make("input x: f32[N, 3]\ninput z: f32[N]\noutput y = sum(x, axes=[1]) + z\n");
  EXPECT_EQ(Run(), "no value for input 'x': f32[N, 3], 'z': f32[N] [PDL0501]");
  Feed(scope_, "x", Noise({2, 3}));
  EXPECT_EQ(Run(), "no value for input 'z': f32[N] [PDL0501]");
  scope_.Create("z")->Set(std::vector<float>{1, 2});
  EXPECT_EQ(Run(), "input 'z' must be f32[N], but holds no tensor [PDL0503]");
  Feed(scope_, "z", Noise({2, 1}));
  EXPECT_EQ(Run(), "input 'z' is declared f32[N], got f32[2, 1] [PDL0503]");
  Feed(scope_, "z", Tensor::FromValues<double>(DType::kF64, {2}, {1, 2}));
  EXPECT_EQ(Run(), "input 'z' is declared f32[N], got f64[2] [PDL0503]");
  Feed(scope_, "z", Noise({3}));
  EXPECT_EQ(Run(), "'N' is 2 by input 'x' and 3 by input 'z' [PDL0504]");
  Feed(scope_, "z", F32({2}, {1, 2}));
  Feed(scope_, "x", Noise({2, 4}));
  EXPECT_EQ(Run(), "input 'x' is declared f32[N, 3], got f32[2, 4] [PDL0503]");
  EXPECT_EQ(Get("y"), "nothing");
  Feed(scope_, "x", F32({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("y"), "[7.0, 17.0]");
}

TEST_F(NetworkTest, ChecksWhatCouldNotBeProved) {
  Make(
      "input x: f32[8*H] where H in 1..=4\n"
      "input w: f32[K]\n"
      "output y = reshape(x, [8, H])\n"
      "output z = x + w\n");
  Feed(scope_, "w", Noise({16}));
  Feed(scope_, "x", Noise({12}));
  EXPECT_NE(Run().find("input 'x' is declared f32[8*H], got f32[12]"), std::string::npos) << Run();
  Feed(scope_, "x", Noise({40}));
  EXPECT_NE(Run().find("H = 5"), std::string::npos) << Run();
  Feed(scope_, "x", Noise({8}));
  EXPECT_NE(Run().find("m.pdl:4:14: add: "), std::string::npos) << Run();
  Feed(scope_, "x", Noise({16}));
  EXPECT_EQ(Run(), "");
}

TEST_F(NetworkTest, ComputesTheOutputsAskedFor) {
  Make(
      "input x: f32[N]\n"
      "input z: f32[M] where M % 2 == 0\n"
      "output a = x + 1\n"
      "output b = z + 2\n");
  FeedX({1});
  RunOptions only_a;
  only_a.outputs = {"a"};
  EXPECT_EQ(Run(only_a), "") << "z and its size are not needed";
  EXPECT_EQ(Get("a") + Get("b"), "[2.0]nothing");
  EXPECT_EQ(Run(), "no value for input 'z': f32[M] [PDL0501]");
  RunOptions wrong;
  wrong.outputs = {"bb"};
  EXPECT_EQ(Run(wrong), "the network has no output 'bb'; did you mean 'b'? [PDL0102]");
}

TEST_F(NetworkTest, AnInputThatGivesOnlyASizeIsNeeded) {
  Make("input x: f32[N]\ninput z: f32[N]\nalso = z * 2\noutput y = ones([N, 2])\n");
  EXPECT_EQ(Run(), "no value for input 'x': f32[N] [PDL0501]");
  FeedX({1, 2});
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("y"), "[[1.0, 1.0],\n [1.0, 1.0]]");
}

TEST_F(NetworkTest, TheScopesParametersComeFirst) {
  Make("param w: f32[2] = ones()\noutput y = w * 2\noutput same = w\n");
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("y") + Get("same"), "[2.0, 2.0][1.0, 1.0]");
  Feed(scope_, "w", F32({2}, {3, 4}));
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("y") + Get("same"), "[6.0, 8.0][3.0, 4.0]");
  Feed(scope_, "w", F32({2}, {5, 6}));
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("y"), "[10.0, 12.0]");
  Feed(scope_, "w", F32({3}, {5, 6, 7}));
  EXPECT_EQ(Run(), "parameter 'w' is declared f32[2], but the scope holds f32[3] [PDL0503]");
  scope_.Erase("w");
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("y"), "[2.0, 2.0]");
}

TEST_F(NetworkTest, WeightsGivenByNameComeBeforeInitializers) {
  NetworkOptions options;
  float values[] = {7, 8};
  options.weights["w"] = Constant::Copy(DType::kF32, {2}, values);
  Make("param w: f32[2] = ones()\noutput y = w * 2\n", std::move(options));
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("y"), "[14.0, 16.0]");
}

TEST_F(NetworkTest, ReturnsWhatIsNotComputed) {
  Make(
      "input x: f32[2, N]\n"
      "state s: f32[2] = ones()\n"
      "h = x + 1\n"
      "output same = x\n"
      "output flat = reshape(x, [2 * N])\n"
      "output h\n"
      "output again = h\n"
      "output turned = reshape(h, [N, 2])\n"
      "output back = reshape(reshape(h, [2 * N]), [2, N])\n"
      "output before = s\n"
      "output fixed = reshape(ones([4]), [2, 2])\n"
      "update s = s * 2\n");
  Feed(scope_, "x", F32({2, 1}, {0, 1}));
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(Run(), "");
    EXPECT_EQ(Get("same"), "[[0.0],\n [1.0]]");
    EXPECT_EQ(Get("flat"), "[0.0, 1.0]");
    EXPECT_EQ(Get("h"), "[[1.0],\n [2.0]]");
    EXPECT_EQ(Get("again"), Get("h"));
    EXPECT_EQ(Get("back"), Get("h"));
    EXPECT_EQ(Get("turned"), "[[1.0, 2.0]]");
    EXPECT_EQ(Get("fixed"), "[[1.0, 1.0],\n [1.0, 1.0]]");
  }
  EXPECT_EQ(Get("before") + Get("s"), "[4.0, 4.0][8.0, 8.0]");
  EXPECT_NE(scope_.Find("same")->Get<Tensor>()->raw(), scope_.Find("x")->Get<Tensor>()->raw());
  EXPECT_NE(scope_.Find("h")->Get<Tensor>()->raw(), scope_.Find("again")->Get<Tensor>()->raw());
}

TEST_F(NetworkTest, AKeptResultStaysAsItWas) {
  Make("input x: f32[N]\noutput y = x + 1\n");
  FeedX({1, 2});
  EXPECT_EQ(Run(), "");
  Tensor kept = *scope_.Find("y")->Get<Tensor>();
  Feed(scope_, "x", kept);  // an output of a run is an input of the next run
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(TensorToString(kept), "[2.0, 3.0]");
  EXPECT_EQ(Get("y"), "[3.0, 4.0]");
}

TEST_F(NetworkTest, AnOutputMayHaveTheNameOfAnInput) {
  Make("input x: f32[N]\noutput x = x * 2\n");
  FeedX({1, 2});
  for (int run = 0; run < 3; ++run) EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("x"), "[8.0, 16.0]");
}

TEST_F(NetworkTest, NeverWritesOverWhatIsStillNeeded) {
  for (bool fuse : {false, true}) {
    NetworkOptions options;
    options.fuse = fuse;
    Make(
        "input x: f32[N]\n"
        "param w: f32[3] = ones()\n"
        "a = exp(x)\n"
        "b = neg(a)\n"
        "c = a + b\n"
        "d = c + w\n"
        "e = neg(w)\n"
        "f = reshape(d, [N])\n"
        "g = neg(f)\n"
        "output y = d + e + g + f\n"
        "output z = a\n",
        std::move(options));
    FeedX({0, 0, 0});
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(Run(), "");
      EXPECT_EQ(Get("y") + Get("z"), "[0.0, 0.0, 0.0][1.0, 1.0, 1.0]");
      EXPECT_EQ(Get("x"), "[0.0, 0.0, 0.0]");
    }
    EXPECT_EQ(TensorToString(Unwrap(network_->InitialValue("w"))), "[1.0, 1.0, 1.0]");
  }
}

TEST_F(NetworkTest, AnEmptyBatch) {
  Make(
      "input x: f32[N, 3]\n"
      "param w: f32[3, 2] = ones()\n"
      "output y = softmax(exp(x @ w) + 1)\n"
      "output sums = sum(x, axes=[0])\n"
      "output turned = transpose(x, [1, 0])\n");
  Feed(scope_, "x", Noise({0, 3}));
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(scope_.Find("y")->Get<Tensor>()->TypeString(), "f32[0, 2]");
  EXPECT_EQ(scope_.Find("turned")->Get<Tensor>()->TypeString(), "f32[3, 0]");
  EXPECT_EQ(Get("sums"), "[0.0, 0.0, 0.0]");
  Feed(scope_, "x", F32({1, 3}, {1, 2, 3}));
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(Get("y"), "[[0.5, 0.5]]");
}

TEST_F(NetworkTest, RefusesToExceedTheMemoryLimit) {
  Make("input x: f32[N]\ny = exp(x)\noutput z = sum(y @ reshape(y, [N, 1]))\noutput y\n");
  int64_t limit = MemoryLimit();
  Feed(scope_, "x", Noise({1 << 20}));
  SetMemoryLimit(3 << 20);
  std::string message = Run();
  SetMemoryLimit(limit);
  EXPECT_NE(message.find("4.0 MiB"), std::string::npos) << message;
  EXPECT_NE(message.find("[PDL0506]"), std::string::npos) << message;
  EXPECT_EQ(Run(), "");
}

TEST_F(NetworkTest, RefusesADeviceWithoutItsKernels) {
  Make("input x: f32[N]\noutput y = test_counted(x)\n");
  FeedX({1});
  FakeContext fake;
  EXPECT_EQ(Message(network_->Run(&scope_, &fake)),
            "m.pdl:2:12: test_counted: there is no such operator on cuda [PDL0509]");
}

TEST_F(NetworkTest, RandomNumbersDependOnSeedAndRun) {
  const std::string text = "a = uniform([4])\nb = uniform([4])\noutput a\noutput b\n";
  Make(text);
  EXPECT_EQ(Run(), "");
  std::string first = Bytes(scope_, "a");
  EXPECT_NE(first, Bytes(scope_, "b"));
  EXPECT_EQ(Run(), "");
  EXPECT_NE(first, Bytes(scope_, "a")) << "each run draws anew";
  Scope other;
  EXPECT_EQ(Message(network_->Run(&other, &cpu_)), "");
  EXPECT_EQ(first, Bytes(other, "a")) << "a Scope counts its own runs";
  NetworkOptions options;
  options.seed = 1;
  Make(text, std::move(options));
  Scope third;
  EXPECT_EQ(Message(network_->Run(&third, &cpu_)), "");
  EXPECT_NE(first, Bytes(third, "a"));
}

TEST_F(NetworkTest, AProfileCountsTheStepsOfThePlan) {
  Make(
      "input x: f32[N]\nstate n: f32[] = zeros()\nupdate n = n + 1\n"
      "y = reshape(relu(x * 2 - 1), [N, 1])\noutput z = sum(y, axes=[0])\n");
  FeedX({1, 2, 3});
  RunProfile profile;
  RunOptions options;
  options.profile = &profile;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(options), "");
  EXPECT_EQ(Get("z"), "[9.0]");
  EXPECT_EQ(Get("n"), "3.0");
  ASSERT_EQ(profile.steps().size(), 3u);
  const RunProfile::Step& group = profile.steps()[0];
  EXPECT_EQ(group.calls, "mul, sub, relu");
  EXPECT_EQ(group.place, "m.pdl:4:20");
  EXPECT_NE(group.result.find(": f32[3]"), std::string::npos) << group.result;
  EXPECT_EQ(profile.steps()[1].calls, "sum");
  EXPECT_EQ(profile.steps()[2].calls, "add");
  for (const RunProfile::Step& step : profile.steps()) {
    EXPECT_EQ(step.runs, 3);
    EXPECT_GT(step.seconds, 0);
  }
}

/// Writes down the outputs that it sees, and how many calls of `test_counted` had run.
class Outputs final : public OutputObserver {
 public:
  llvm::Error SeeOutput(llvm::StringRef name, const Tensor& tensor) override {
    seen.push_back(
        llvm::formatv("{0} = {1} after {2}", name, TensorToString(tensor), counted_runs.load()));
    if (name == fails_at) return MakeDeviceError("enough");
    return llvm::Error::success();
  }

  std::string fails_at;
  std::vector<std::string> seen;
};

TEST_F(NetworkTest, ShowsOutputsAsSoonAsTheyAreComplete) {
  // An output of a call, two names for one value, an input, a constant, and an alias.
  Make(
      "input x: f32[N]\n"
      "a = test_counted(x)\n"
      "b = test_counted(a + 1)\n"
      "output b\noutput a\noutput again = a\noutput x2 = x\noutput c = 2 * 3\n"
      "output r = reshape(test_counted(b * 2), [1, N])\n");
  FeedX({1});
  counted_runs = 0;
  Outputs outputs;
  RunOptions options;
  options.output_observer = &outputs;
  EXPECT_EQ(Run(options), "");
  EXPECT_EQ(outputs.seen, (std::vector<std::string>{"a = [1.0] after 1", "b = [2.0] after 2",
                                                    "r = [[4.0]] after 3", "again = [1.0] after 3",
                                                    "x2 = [1.0] after 3", "c = 6 after 3"}));
  EXPECT_EQ(Get("again"), Get("a"));

  // Calls that are observed one by one.
  outputs.seen.clear();
  options.check_finite = true;
  options.outputs = {"b", "a"};
  counted_runs = 0;
  EXPECT_EQ(Run(options), "");
  EXPECT_EQ(outputs.seen, (std::vector<std::string>{"b = [2.0] after 2", "a = [1.0] after 2"}));
}

TEST_F(NetworkTest, AnErrorOfTheOutputObserverEndsTheRun) {
  Make(
      "input x: f32[N]\nstate s: f32[] = zeros()\n"
      "a = test_counted(x)\noutput a\noutput b = test_counted(a + 1)\nupdate s = sum(a)\n");
  FeedX({1});
  counted_runs = 0;
  Outputs outputs;
  outputs.fails_at = "a";
  RunOptions options;
  options.output_observer = &outputs;
  EXPECT_EQ(Run(options), "enough");
  EXPECT_EQ(counted_runs, 1);
  EXPECT_EQ(scope_.Find("a"), nullptr);
}

TEST_F(NetworkTest, ShowsOutputsOfNetworksWithDataDependentSizes) {
  Make(
      "input x: f32[N]\ntaken = gather(x, nonzero(x)[:, 0])\noutput first = x + 1\noutput taken\n"
      "output last = taken * 2\n");
  FeedX({0, 3});
  Outputs outputs;
  RunOptions options;
  options.output_observer = &outputs;
  counted_runs = 0;
  EXPECT_EQ(Run(options), "");
  llvm::sort(outputs.seen);
  EXPECT_EQ(outputs.seen,
            (std::vector<std::string>{"first = [1.0, 4.0] after 0", "last = [6.0] after 0",
                                      "taken = [3.0] after 0"}));
}

}  // namespace
}  // namespace pdl
