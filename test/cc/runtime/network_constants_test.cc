// Calls that depend on nothing but parameters and constants are computed once.
#include <algorithm>
#include <cmath>
#include <thread>

#include "runtime/memory.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

unsigned NumSteps(const std::string& plan) {
  unsigned steps = 0;
  while (plan.find("\n" + std::string(4 - std::to_string(steps).size(), ' ') +
                   std::to_string(steps) + "  ") != std::string::npos)
    ++steps;
  return steps;
}

float LargestDifference(const Scope& a, const Scope& b, const char* name) {
  const Tensor& x = *a.Find(name)->Get<Tensor>();
  const Tensor& y = *b.Find(name)->Get<Tensor>();
  EXPECT_EQ(x.sizes(), y.sizes());
  float largest = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i)
    largest = std::max(largest, std::abs(x.data<float>()[i] - y.data<float>()[i]));
  return largest;
}

constexpr char kScaled[] = R"(
input x: f32[N, 8]
param w: f32[4, 8] = normal()
param s: f32[4] = normal()
scaled = cos(w) * exp(s)[:, none]
output y = x * sum(scaled, axes=[0])
output total = sum(scaled)
)";

TEST(NetworkConstants, AreNoSteps) {
  const auto network = MakeNetwork(kScaled);
  const std::string plan = PlanOf(*network);
  EXPECT_EQ(NumSteps(plan), 1u) << plan;
  EXPECT_NE(plan.find("  constant total: f32[]"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("param"), std::string::npos) << plan;
}

TEST(NetworkConstants, HaveTheBitsOfARun) {
  NetworkOptions plain;
  plain.optimize = false;
  const auto network = MakeNetwork(kScaled);
  const auto unoptimized = MakeNetwork(kScaled, plain);
  EXPECT_GT(NumSteps(PlanOf(*unoptimized)), 3u);
  for (const char* output : {"y", "total"}) {
    Scope folded, stepwise;
    CPUContext context;
    for (auto [scope, each] : {std::pair(&folded, network), std::pair(&stepwise, unoptimized)}) {
      Feed(*scope, "x", Noise({3, 8}));
      RunOptions options;
      options.outputs = {output};
      EXPECT_EQ(Message(each->Run(scope, &context, options)), "");
    }
    EXPECT_EQ(Bytes(folded, output), Bytes(stepwise, output));
  }
}

TEST(NetworkConstants, AParameterOfTheScopeIsNone) {
  const auto network = MakeNetwork("param w: f32[2] = ones()\noutput y = w * 2.0 + 1.0\n");
  CPUContext context;
  Scope scope;
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  EXPECT_EQ(Printed(scope, "y"), "[3.0, 3.0]");
  for (const float value : {4.0f, 5.0f}) {
    Feed(scope, "w", F32({2}, {value, value}));
    EXPECT_EQ(Message(network->Run(&scope, &context)), "");
    const std::string expected = std::to_string(static_cast<int>(2 * value + 1)) + ".0";
    EXPECT_EQ(Printed(scope, "y"), "[" + expected + ", " + expected + "]");
  }
  scope.Erase("w");
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  EXPECT_EQ(Printed(scope, "y"), "[3.0, 3.0]");
}

TEST(NetworkConstants, AnObservedRunComputesEachCall) {
  const auto network = MakeNetwork(kScaled);
  RunOptions options;
  options.check_finite = true;
  EXPECT_GT(NumSteps(PlanOf(*network, options)), 3u);
}

TEST(NetworkConstants, TrainingIsDecidedForEachPlan) {
  const auto network = MakeNetwork(
      "param w: f32[] = ones()\nif training {\n  y = w + 1.0\n} else {\n  y = w\n}\n"
      "output y = y * 2.0\n");
  CPUContext context;
  for (const bool training : {true, false, true}) {
    Scope scope;
    RunOptions options;
    options.training = training;
    EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
    EXPECT_EQ(Printed(scope, "y"), training ? "4.0" : "2.0");
  }
}

// 64 MB computed from 4 KB would only take memory.
TEST(NetworkConstants, LargeResultsOfSmallOnesAreComputedInEachRun) {
  const auto network = MakeNetwork(
      "input x: f32[]\nparam w: f32[1024] = ones()\nv = exp(w)\n"
      "large = broadcast_to(v, [16384, 1024]) + 1.0\noutput y = sum(large * x)\n");
  const std::string plan = PlanOf(*network);
  EXPECT_NE(plan.find("constant v: f32[1024]"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("constant large:"), std::string::npos) << plan;
}

// A transpose of a large parameter takes no more memory than the parameter.
TEST(NetworkConstants, LargeResultsOfLargeParametersAreKept) {
  const auto network = MakeNetwork(
      "input x: f32[1024]\nparam w: f32[1024, 8192] = ones()\n"
      "output y = sum(transpose(w) * x, axes=[1])\n");
  const std::string plan = PlanOf(*network);
  EXPECT_NE(plan.find("constant y_transpose: f32[8192, 1024]"), std::string::npos) << plan;
}

TEST(NetworkConstants, AreSharedByThePlansOfANetwork) {
  const auto network = MakeNetwork(
      "input x: f32[4]\nparam w: f32[1048576] = ones()\nv = cos(w)\n"
      "output y = x * v[0]\noutput z = x + v[1]\noutput v\n");
  CPUContext context;
  const auto run = [&](const char* output) {
    Scope scope;
    Feed(scope, "x", Noise({4}));
    RunOptions options;
    options.outputs = {output};
    EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
  };
  run("v");
  const int64_t before = HostMemoryInUse();
  run("y");
  run("z");
  EXPECT_LT(HostMemoryInUse() - before, int64_t{1} << 20);
}

// The call fails in the run, where its error names its location.
TEST(NetworkConstants, AnErrorIsThatOfTheRun) {
  const auto network = MakeNetwork(
      "input x: f32[]\nparam w: f32[2, 2] = ones()\nparam v: f32[2] = ones()\n"
      "c = cholesky(w - 2.0)\noutput y = x * sum(c)\noutput z = x * sum(v * 3.0)\n");
  CPUContext context;
  Scope scope;
  Feed(scope, "x", F32({}, {1}));
  const std::string message = Message(network->Run(&scope, &context));
  EXPECT_NE(message.find("m.pdl:4:5: cholesky: "), std::string::npos) << message;
  RunOptions options;
  options.outputs = {"z"};
  EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
  EXPECT_EQ(Printed(scope, "z"), "6.0");
}

// A reshape of a parameter is the parameter's memory.
TEST(NetworkConstants, AReshapeTakesNoMemory) {
  const auto network = MakeNetwork(
      "input x: f32[]\nparam w: f32[1024, 4096] = ones()\noutput y = x * sum(reshape(w, [-1]))\n"
      "output w_sum = sum(w) * x\n");
  CPUContext context;
  Scope scope;
  Feed(scope, "x", F32({}, {2}));
  RunOptions options;
  options.outputs = {"w_sum"};
  EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
  const int64_t before = HostMemoryInUse();
  options.outputs = {"y"};
  EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
  EXPECT_LT(HostMemoryInUse() - before, int64_t{1} << 20);
  EXPECT_EQ(Printed(scope, "y"), "8388608.0");
}

TEST(NetworkConstants, OfTheBodyOfALoop) {
  constexpr char kLoop[] = R"(
layer step(x: F[N, D], h: F[N, D]) {
  param w: F[D, D] = normal()
  return h = tanh(h @ transpose(exp(w)) + x)
}
input x: f32[2, T, 3]
output h = scan(x, init=zeros([2, 3]), body=step())
)";
  NetworkOptions plain;
  plain.optimize = false;
  std::string bytes[2];
  for (auto [i, network] :
       {std::pair(0, MakeNetwork(kLoop)), std::pair(1, MakeNetwork(kLoop, plain))}) {
    ASSERT_NE(network, nullptr);
    CPUContext context;
    Scope scope;
    Feed(scope, "x", Noise({2, 5, 3}));
    EXPECT_EQ(Message(network->Run(&scope, &context)), "");
    bytes[i] = Bytes(scope, "h");
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

// --- Deferred results ---------------------------------------------------------------------------

/// 4 MiB, of which a matmul needs a packed form only.
constexpr char kDeferred[] = R"(
input x: f32[N, 1024]
param w: f32[1024, 1024] = normal(std=0.1)
param s: f32[1024] = normal()
v = w * s
output w_sum = sum(w) + sum(s)
output y = x @ v
output t = x @ transpose(tanh(v))
output twice = x @ (tanh(v) + tanh(v))
output sum = v + x[0]
output v
)";

/// The results of N rows are in `scope`.
void RunRows(const Network& network, const char* output, int64_t rows, Scope* scope) {
  CPUContext context;
  RunOptions options;
  options.outputs = {output};
  Feed(*scope, "x", Noise({rows, 1024}));
  EXPECT_EQ(Message(network.Run(scope, &context, options)), "");
}

/// Compares with the same network without passes.
void RunAndCompare(const Network& network, const char* output, int64_t rows) {
  NetworkOptions plain;
  plain.optimize = false;
  static const auto unoptimized = MakeNetwork(kDeferred, plain);
  Scope a, b;
  RunRows(network, output, rows, &a);
  RunRows(*unoptimized, output, rows, &b);
  EXPECT_LT(LargestDifference(a, b, output), 1e-4f) << output << ", " << rows << " rows";
}

/// The bytes that the network keeps for an output, with those of one packed matrix in addition to
/// the results of calls.
constexpr int64_t kMatrixBytes = int64_t{4} << 20, kOtherBytes = int64_t{1} << 20;
int64_t KeptBytes(const Network& network, const char* output) {
  const auto run = [&network](const char* of) {
    Scope scope;
    RunRows(network, of, 20, &scope);
  };
  run("w_sum");  // computes the parameters
  const int64_t before = HostMemoryInUse();
  run(output);
  return HostMemoryInUse() - before;
}

TEST(NetworkConstants, AreNotKeptOnceTheyArePacked) {
  for (const char* output : {"y", "t"}) {
    const auto network = MakeNetwork(kDeferred);
    EXPECT_LT(KeptBytes(*network, output), kMatrixBytes + kOtherBytes) << output;
    // Few rows have another packed form.
    for (const int64_t rows : {1, 3, 300, 20, 1}) RunAndCompare(*network, output, rows);
  }
}

TEST(NetworkConstants, AreKeptIfARunReadsThem) {
  for (const char* output : {"sum", "v"}) {
    const auto network = MakeNetwork(kDeferred);
    EXPECT_GE(KeptBytes(*network, output), kMatrixBytes) << output;
    // Once for all plans.
    for (const char* other : {"v", "sum"})
      EXPECT_LT(KeptBytes(*network, other), kOtherBytes) << output;
    EXPECT_LT(KeptBytes(*network, "y"), kMatrixBytes + kOtherBytes) << output;
    for (const char* other : {"v", "sum", "y"}) RunAndCompare(*network, other, 20);
  }
}

// A result that is read twice is not computed twice: the sum is computed with it.
TEST(NetworkConstants, AreComputedOnce) {
  const auto network = MakeNetwork(kDeferred);
  EXPECT_LT(KeptBytes(*network, "twice"), 2 * kMatrixBytes + kOtherBytes);
  for (const int64_t rows : {1, 300}) RunAndCompare(*network, "twice", rows);
}

// Neither the stack nor the memory grows with the number of calls.
TEST(NetworkConstants, AChainOfManyCalls) {
  const auto network = MakeNetwork(
      "input x: f32[N, 128]\nparam w: f32[128, 128] = ones()\nparam s: f32[128] = ones()\nv = w * "
      "s\n"
      "for i in 0..20000 { v = v + s }\noutput y = x @ v\n");
  Scope scope;
  CPUContext context;
  Feed(scope, "x", Noise({20, 128}));
  const int64_t before = HostMemoryInUse();
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  EXPECT_LT(HostMemoryInUse() - before, int64_t{1} << 20);
  const Tensor& x = *scope.Find("x")->Get<Tensor>();
  double sum = 0;
  for (int64_t i = 0; i < 128; ++i) sum += double{x.data<float>()[i]};
  EXPECT_NEAR(scope.Find("y")->Get<Tensor>()->data<float>()[0], 20001 * sum, 1e-3 * 20001);
}

// Of `a + b`, b is computed first if it takes more calls.
TEST(NetworkConstants, ATreeOfManyCalls) {
  std::string text = "input x: f32[N, 512]\nv = zeros([512, 512])\n";
  for (int i = 0; i < 16; ++i)
    text += llvm::formatv("param p{0}: f32[512, 512] = ones()\nv = tanh(p{0}) + v\n", i).str();
  const auto network = MakeNetwork(text + "output y = sum(x @ v, axes=[0])\n");
  Scope scope;
  CPUContext context;
  Feed(scope, "x", F32({1, 512}, std::vector<float>(512, 1.0f)));
  // The parameters, and some values of 1 MiB.
  const int64_t old = MemoryLimit();
  SetMemoryLimit(HostMemoryInUse() + (int64_t{24} << 20));
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  SetMemoryLimit(old);
  EXPECT_NEAR(scope.Find("y")->Get<Tensor>()->data<float>()[0], 512 * 16 * std::tanh(1.0), 0.1);
}

TEST(NetworkConstants, AnErrorOfADeferredCallHasItsPlace) {
  const auto network = MakeNetwork(
      "input x: f32[N, 2048]\nparam w: f32[2048, 2048] = ones()\nv = w * 2.0\noutput y = x @ v\n"
      "output z = x + sum(w)\noutput v\n");
  CPUContext context;
  RunOptions options;
  options.outputs = {"z"};
  Scope scope;
  Feed(scope, "x", Noise({20, 2048}));
  EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
  // Makes the plan, which needs no packed form for an empty product.
  options.outputs = {"y"};
  Feed(scope, "x", Noise({0, 2048}));
  EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
  Feed(scope, "x", Noise({20, 2048}));
  const int64_t old = MemoryLimit();
  SetMemoryLimit(HostMemoryInUse() + (int64_t{8} << 20));
  const std::string message = Message(network->Run(&scope, &context, options));
  SetMemoryLimit(old);
  EXPECT_NE(message.find("m.pdl:3:7: mul: a tensor f32[2048, 2048] needs 16.0 MiB"),
            std::string::npos)
      << message;
  EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
}

// With little memory, nothing is computed before the run, which needs the memory of one result.
TEST(NetworkConstants, LittleMemoryIsLeftToTheRun) {
  for (const char* output : {"y", "s"}) {
    const auto network = MakeNetwork(
        "input x: f32[N, 2048]\nparam w: f32[2048, 2048] = ones()\nv = tanh(exp(w))\n"
        "output y = x @ v\noutput z = x + sum(w)\noutput s = sum(v)\n");
    CPUContext context;
    RunOptions options;
    Scope scope;
    Feed(scope, "x", Noise({20, 2048}));
    options.outputs = {"z"};
    EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
    const int64_t old = MemoryLimit();
    SetMemoryLimit(HostMemoryInUse() + (int64_t{18} << 20));
    options.outputs = {output};
    EXPECT_EQ(Message(network->Run(&scope, &context, options)), "") << output;
    SetMemoryLimit(old);
  }
}

// Each fails, with its users; planning takes one pass, not one for each.
TEST(NetworkConstants, ManyCallsThatFail) {
  std::string text = "c = constant([1.0, 2.0])\nt = constant([5])\n";
  for (int i = 0; i < 2000; ++i)
    text += llvm::formatv("v{0} = gather(c, t + {0})\noutput y{0} = v{0} + 1.0\n", i).str();
  const auto network = MakeNetwork(text);
  Scope scope;
  CPUContext context;
  RunOptions options;
  options.check_indices = true;
  const std::string message = Message(network->Run(&scope, &context, options));
  EXPECT_NE(message.find("m.pdl:3:6: gather"), std::string::npos) << message;
}

// Two parameters may begin at the same address, such as a list of matrices and its first one.
TEST(NetworkConstants, PackedFormsOfOverlappingParameters) {
  const auto noise = [](DType dtype, llvm::ArrayRef<int64_t> sizes) {
    const Tensor values = Noise(sizes);
    if (dtype == DType::kF32) return values;
    const float* floats = values.data<float>();
    return Tensor::FromValues<double>(dtype, sizes,
                                      std::vector<double>(floats, floats + values.num_elements()));
  };
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const std::string name = DTypeName(dtype).str();
    const Constant all = noise(dtype, {2, 7, 5}).ToConstant();
    const auto run = [&](const Constant& first) {
      NetworkOptions options;
      options.weights["all"] = all;
      options.weights["first"] = first;
      std::string text = "input x: DT[N, 5]\nparam all: DT[2, 7, 5] = zeros()\n";
      text += "param first: DT[7, 5] = zeros()\noutput y = matmul(x, first, transpose_b=true)\n";
      text += "output z = matmul(x, all, transpose_b=true)\n";
      for (size_t at; (at = text.find("DT")) != std::string::npos;) text.replace(at, 2, name);
      const auto network = MakeNetwork(text, std::move(options));
      Scope scope;
      CPUContext context;
      scope.Create("x")->Set(noise(dtype, {6, 5}));
      EXPECT_EQ(Message(network->Run(&scope, &context)), "");
      return scope.Find("z")->Get<Tensor>()->ToConstant();
    };
    const Constant shared(dtype, {7, 5}, all.bytes());
    EXPECT_TRUE(run(shared) == run(Constant::Copy(dtype, {7, 5}, all.data())));
  }
}

// A call that may fail for its values is not deferred: its error is that of the call.
TEST(NetworkConstants, AnIndexOutOfRangeIsTheErrorOfItsCall) {
  const auto network = MakeNetwork(
      "input x: f32[]\nparam i: i64[20000] = fill(dims=[20000], value=12, dtype=i64)\n"
      "j = check_index(i, 10)\noutput y = gather(ones([10]) * x, j)\n");
  Scope scope;
  CPUContext context;
  Feed(scope, "x", F32({}, {1}));
  const std::string message = Message(network->Run(&scope, &context));
  EXPECT_NE(message.find("m.pdl:3:5: check_index: the index 12"), std::string::npos) << message;
}

TEST(NetworkConstants, AreKeptForALoop) {
  constexpr char kLoop[] = R"(
layer step(x: F[N, D], h: F[N, D], v: F[D, D]) {
  return h = tanh(h @ v + x)
}
input x: f32[32, T, 160]
param w: f32[160, 160] = normal(std=0.1)
v = tanh(w) * 2.0
output h = scan(x, init=zeros([32, 160]), captured=v, body=step())
output y = x @ v
)";
  NetworkOptions plain;
  plain.optimize = false;
  Scope a, b;
  for (auto [scope, network] :
       {std::pair(&a, MakeNetwork(kLoop)), std::pair(&b, MakeNetwork(kLoop, plain))}) {
    CPUContext context;
    for (const int64_t steps : {3, 5}) {
      Feed(*scope, "x", Noise({32, steps, 160}));
      EXPECT_EQ(Message(network->Run(scope, &context)), "");
    }
  }
  for (const char* output : {"h", "y"}) EXPECT_LT(LargestDifference(a, b, output), 1e-4f);
}

TEST(NetworkConstants, AreComputedByAnyThread) {
  const auto network = MakeNetwork(kDeferred);
  RunAndCompare(*network, "y", 1);
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&network, i] {
      for (const int64_t rows : {20, 2, 40, 300}) {
        RunAndCompare(*network, "y", rows + i);
        RunAndCompare(*network, i % 2 == 0 ? "sum" : "t", rows + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(NetworkConstants, NormalizationOfALargeConvolution) {
  constexpr char kConvolution[] = R"(
input x: f32[N, 64, H, W]
param w: f32[64, 64, 3, 3] = normal(std=0.05)
param p: f32[128, 64, 1, 1] = normal(std=0.1)
param gamma: f32[64] = uniform(low=0.5, high=2.0)
param mean: f32[64] = normal()
y = conv2d(relu(normalize(conv2d(x, w, pad=[1]), mean, ones([64]), gamma)), p)
output z = y * 2.0
)";
  NetworkOptions plain;
  plain.optimize = false;
  const auto network = MakeNetwork(kConvolution), unfolded = MakeNetwork(kConvolution, plain);
  for (const int64_t size : {5, 20, 5, 64}) {
    Scope a, b;
    for (auto [scope, each] : {std::pair(&a, network), std::pair(&b, unfolded)}) {
      CPUContext context;
      Feed(*scope, "x", Noise({2, 64, size, size + 1}));
      EXPECT_EQ(Message(each->Run(scope, &context)), "");
    }
    EXPECT_LT(LargestDifference(a, b, "z"), 2e-4f) << size;
  }
}

// --- States that no run changes -----------------------------------------------------------------

constexpr char kNormalized[] = R"(
input x: f32[N, 3, H, W]
param w: f32[8, 3, 3, 3] = normal()
param b: f32[8] = normal()
param gamma: f32[8] = uniform(low=0.5, high=2.0)
param beta: f32[8] = normal()
state mean: f32[8] = normal()
state var: f32[8] = uniform(low=0.5, high=2.0)
y = conv2d(x, w, b, pad=[1])
if training {
  m, v = moments(y, keep=[1])
  update mean = 0.9 * mean + 0.1 * m
  update var = 0.9 * var + 0.1 * v
} else {
  m = mean
  v = var
}
output z = relu(normalize(y, m, v, gamma, beta))
)";

TEST(NetworkConstants, NormalizationIsFoldedIntoAConvolution) {
  const auto network = MakeNetwork(kNormalized);
  const std::string plan = PlanOf(*network);
  EXPECT_EQ(plan.find("normalize("), std::string::npos) << plan;
  EXPECT_EQ(plan.find("  state "), std::string::npos) << plan;
  EXPECT_NE(plan.find("constant z_normalize_w: f32[8, 3, 3, 3]"), std::string::npos) << plan;
  RunOptions training, observed;
  training.training = true;
  observed.check_finite = true;
  for (const RunOptions& options : {training, observed})
    EXPECT_NE(PlanOf(*network, options).find("normalize("), std::string::npos);

  NetworkOptions plain;
  plain.optimize = false;
  const auto unfolded = MakeNetwork(kNormalized, plain);
  EXPECT_NE(PlanOf(*unfolded).find("normalize("), std::string::npos);
  CPUContext context;
  Scope a, b;
  for (auto [scope, each] : {std::pair(&a, network), std::pair(&b, unfolded)}) {
    Feed(*scope, "x", Noise({2, 3, 9, 7}));
    EXPECT_EQ(Message(each->Run(scope, &context)), "");
    EXPECT_EQ(Message(each->Run(scope, &context)), "");
  }
  EXPECT_LT(LargestDifference(a, b, "z"), 2e-5f);
  // The run has created the states.
  for (const char* state : {"mean", "var"}) EXPECT_EQ(Bytes(a, state), Bytes(b, state));
}

TEST(NetworkConstants, AStateOfTheScopeIsNone) {
  const auto network = MakeNetwork(kNormalized);
  CPUContext context;
  Scope scope;
  Feed(scope, "x", Noise({2, 3, 9, 7}));
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  const std::string before = Bytes(scope, "z");
  RunOptions training;
  training.training = true;
  EXPECT_EQ(Message(network->Run(&scope, &context, training)), "");
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  const std::string after = Bytes(scope, "z");
  EXPECT_NE(after, before);

  // A Scope with the same states gives the same result, whatever was run before.
  NetworkOptions plain;
  plain.optimize = false;
  const auto unfolded = MakeNetwork(kNormalized, plain);
  Scope other;
  for (const char* name : {"x", "mean", "var"}) Feed(other, name, *scope.Find(name)->Get<Tensor>());
  EXPECT_EQ(Message(unfolded->Run(&other, &context)), "");
  EXPECT_LT(LargestDifference(scope, other, "z"), 2e-5f);
  for (const char* name : {"mean", "var"}) scope.Erase(name);
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  EXPECT_EQ(Bytes(scope, "z"), before);
  Feed(scope, "mean", F32({7}, {1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(Message(network->Run(&scope, &context)),
            "state 'mean' is declared f32[8], but the scope holds f32[7] [PDL0503]");
}

// The error of a size names the convolution.
TEST(NetworkConstants, AFoldedConvolutionKeepsItsLocation) {
  const auto network = MakeNetwork(
      "input x: f32[N, C, 4, 4]\nparam w: f32[2, 3, 3, 3] = normal()\n"
      "param v: f32[2] = ones()\ny = conv2d(x, w)\noutput z = normalize(y, v, v)\n");
  CPUContext context;
  Scope scope;
  Feed(scope, "x", Noise({1, 4, 4, 4}));
  const std::string message = Message(network->Run(&scope, &context));
  EXPECT_NE(message.find("m.pdl:4:5: conv2d: "), std::string::npos) << message;
}

}  // namespace
}  // namespace pdl
