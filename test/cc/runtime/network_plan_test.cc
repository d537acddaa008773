// Optimizations of a Plan do not change results: fusion, folding, memory reuse, cached bindings.
#include <random>

#include "pdl/compiler/emit.h"
#include "runtime/memory.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

/// Generates random networks of elementwise calls over operands that broadcast in all possible
/// ways.
class RandomNetwork {
 public:
  RandomNetwork(uint32_t seed, std::vector<int64_t> result) : random_(seed) {
    for (unsigned i = 0, count = 2 + Below(4); i < count; ++i) AddInput(result);
    for (unsigned i = 0, count = 5 + Below(35); i < count; ++i) AddCall();
    for (size_t v = 0; v < values_.size(); ++v)
      if (v + 1 == values_.size() || Below(6) == 0)
        text_ += "output o" + std::to_string(v) + " = " + values_[v].name + "\n";
  }
  const std::string& text() const { return text_; }
  void Feed(Scope& scope) const {
    for (size_t i = 0; i < inputs_.size(); ++i)
      pdl::Feed(scope, "x" + std::to_string(i), Noise(inputs_[i], static_cast<uint32_t>(i + 1)));
  }

 private:
  struct Term {
    std::string name, dtype;
  };

  unsigned Below(unsigned n) { return random_() % n; }
  static std::string ListOf(llvm::ArrayRef<int64_t> sizes) {
    std::string text;
    for (int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
  }
  /// The sizes of an operand that broadcasts to the result: some are 1, some leading ones are
  /// omitted.
  std::vector<int64_t> Broadcasted(std::vector<int64_t> sizes) {
    if (Below(3) == 0) return sizes;
    for (int64_t& size : sizes)
      if (Below(3) == 0) size = 1;
    return {sizes.begin() + Below(static_cast<unsigned>(sizes.size()) + 1), sizes.end()};
  }

  void AddInput(const std::vector<int64_t>& result) {
    std::vector<int64_t> sizes = inputs_.empty() ? result : Broadcasted(result);
    if (!inputs_.empty() && Below(4) == 0) {
      Add("f32", "cos(ones(" + ListOf(sizes) + ") * 0.7) - 0.25");
      return;
    }
    std::string name = "x" + std::to_string(inputs_.size());
    text_ += "input " + name + ": f32" + ListOf(sizes) + "\n";
    inputs_.push_back(std::move(sizes));
    values_.push_back({name, "f32"});
  }

  void Add(const std::string& dtype, const std::string& expression) {
    std::string name = "v" + std::to_string(values_.size());
    text_ += name + " = " + expression + "\n";
    values_.push_back({name, dtype});
  }

  Term Pick() {
    // Prefers late values, so that chains get long.
    size_t n = values_.size();
    return values_[Below(2) ? n - 1 - Below(static_cast<unsigned>(std::min<size_t>(n, 4)))
                            : Below(static_cast<unsigned>(n))];
  }
  std::string As(const Term& term, const std::string& dtype) {
    return term.dtype == dtype ? term.name : "cast(" + term.name + ", to=" + dtype + ")";
  }

  void AddCall() {
    static const char* const kUnary[] = {"cos", "sin", "tanh", "sigmoid", "relu", "neg", "abs"};
    static const char* const kBinary[] = {"maximum", "minimum", "add", "sub"};
    static const char* const kDTypes[] = {"f64", "f16", "bf16", "f32", "f32"};
    Term a = Pick();
    switch (Below(8)) {
      case 0:
      case 1:
        return Add(a.dtype, std::string(kUnary[Below(7)]) + "(" + a.name + ")");
      case 2: {
        std::string dtype = kDTypes[Below(5)];
        return Add(dtype, As(a, dtype));
      }
      case 3:
        return Add(a.dtype, a.name + " * 0.75");
      case 4:
        return Add(a.dtype, "sin(0.5 - " + a.name + ")");
      case 5: {
        Term b = Pick();
        return Add(a.dtype, "cast(" + a.name + " < " + As(b, a.dtype) + ", to=" + a.dtype + ")");
      }
      case 6:
        return Add(a.dtype, "sin(" + a.name + " * " + As(Pick(), a.dtype) + ")");
      default:
        return Add(a.dtype, std::string(kBinary[Below(4)]) + "(" + a.name + ", " +
                                As(Pick(), a.dtype) + ")");
    }
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<std::vector<int64_t>> inputs_;
  std::vector<Term> values_;
};

/// All outputs, concatenated. Runs twice, since the second run reuses memory.
std::string OutputsOf(const RandomNetwork& random, bool fuse, bool optimize, int threads) {
  NetworkOptions options;
  options.fuse = fuse;
  options.optimize = optimize;
  std::shared_ptr<const Network> network = MakeNetwork(random.text(), std::move(options));
  if (!network) return "no network";
  Scope scope;
  CPUContext context(threads);
  random.Feed(scope);
  std::string bytes[2];
  for (std::string& run : bytes) {
    EXPECT_EQ(Message(network->Run(&scope, &context)), "");
    for (const GraphOutput& output : network->graph().outputs()) run += Bytes(scope, output.name);
  }
  EXPECT_TRUE(bytes[0] == bytes[1]) << "the second run differs";
  return bytes[0];
}

void ExpectThatNoWayOfRunningIsSeen(uint32_t seed, std::vector<int64_t> sizes) {
  RandomNetwork random(seed, std::move(sizes));
  std::string plain = OutputsOf(random, false, false, 1);
  EXPECT_TRUE(plain == OutputsOf(random, true, false, 1)) << "fused\n" << random.text();
  EXPECT_TRUE(plain == OutputsOf(random, false, true, 1)) << "optimized\n" << random.text();
  EXPECT_TRUE(plain == OutputsOf(random, true, true, 3)) << "both\n" << random.text();
}

TEST(NetworkPlan, FusedAndFoldedGiveTheSameBits) {
  for (uint32_t seed = 0; seed < 120 && !testing::Test::HasFailure(); ++seed) {
    static const std::vector<int64_t> kSizes[] = {{3, 5, 37},   {1}, {1, 1, 3}, {70, 2},
                                                  {2, 3, 4, 5}, {},  {17}};
    ExpectThatNoWayOfRunningIsSeen(seed, kSizes[seed % 7]);
  }
}

TEST(NetworkPlan, LargeFusedGroupsGiveTheSameBits) {
  for (uint32_t seed = 1000; seed < 1008 && !testing::Test::HasFailure(); ++seed) {
    static const std::vector<int64_t> kSizes[] = {
        {4, 9, 1100}, {70'001}, {20'000, 3}, {2, 2, 30'000}};
    ExpectThatNoWayOfRunningIsSeen(seed, kSizes[seed % 4]);
  }
}

TEST(NetworkPlan, FoldingKeepsWhatIsComputed) {
  const std::string text =
      "input x: f32[N, 4]\n"
      "a = reshape([1.5, 2.5, 3.5, 4.5], [2, 2])\n"
      "b = matmul(a, a) |> softmax() |> transpose([1, 0])\n"
      "c = concat(b, exp(a) / 7.0, axis=1)\n"
      "w = sum(c, axes=[0]) + mean(a)\n"
      "output y = x * w + w[2]\n"
      "output k = w\n";
  NetworkOptions plain;
  plain.optimize = false;
  plain.fuse = false;
  std::shared_ptr<const Network> folded = MakeNetwork(text),
                                 computed = MakeNetwork(text, std::move(plain));
  EXPECT_LE(folded->optimized_graph().ops().size(), 6u) << EmitIr(folded->optimized_graph());
  EXPECT_GE(computed->optimized_graph().ops().size(), 11u);
  CPUContext context(1);
  Scope one, other;
  for (Scope* scope : {&one, &other}) Feed(*scope, "x", Noise({3, 4}));
  EXPECT_EQ(Message(folded->Run(&one, &context)), "");
  EXPECT_EQ(Message(computed->Run(&other, &context)), "");
  for (const char* name : {"y", "k"}) EXPECT_EQ(Bytes(one, name), Bytes(other, name));
}

TEST(NetworkPlan, EachRunMayHaveANewSize) {
  NetworkOptions options;
  options.max_bindings = 3;
  std::shared_ptr<const Network> network = MakeNetwork(
      "input x: f32[N, 256]\n"
      "param w: f32[256, 8] = normal(std=0.1)\n"
      "h = exp(x)\n"
      "output y = sum(h @ w, axes=[1]) + max(h, axes=[1])\n"
      "output count = cast(N, to=f32) + 0\n",
      std::move(options));
  ASSERT_NE(network, nullptr);
  CPUContext context(1);
  Scope scope;
  Tensor all = Noise({400, 256});
  // Other tests of the process may have kept some.
  const int64_t before = HostMemoryInUse();
  Feed(scope, "x", all);
  ASSERT_EQ(Message(network->Run(&scope, &context)), "");
  Tensor wanted = *scope.Find("y")->Get<Tensor>();
  int64_t most = 0;
  for (int run = 0; run < 400; ++run) {
    int64_t n = run % 5 == 4 ? run : 1 + run * 7919 % 400;
    Feed(scope, "x",
         F32({n, 256}, llvm::ArrayRef(all.data<float>(), static_cast<size_t>(n) * 256)));
    ASSERT_EQ(Message(network->Run(&scope, &context)), "");
    const Tensor& y = *scope.Find("y")->Get<Tensor>();
    ASSERT_EQ(y.size(0), n);
    for (int64_t i = 0; i < n; i += 13)
      ASSERT_NEAR(y.data<float>()[i], wanted.data<float>()[i], 1e-4) << n;
    ASSERT_EQ(*scope.Find("count")->Get<Tensor>()->data<float>(), static_cast<float>(n));
    most = std::max(most, HostMemoryInUse() - before);
  }
  // Three bindings of at most 400 rows, their results, and the weights.
  EXPECT_LT(most, int64_t{8} << 20);
}

TEST(NetworkPlan, KeptSizesShareTheirMemory) {
  std::shared_ptr<const Network> network = MakeNetwork(
      "input x: f32[N, 256]\n"
      "h = exp(x)\n"
      "output y = sum(h, axes=[1]) + max(h, axes=[1])\n");
  ASSERT_NE(network, nullptr);
  CPUContext context(1);
  Scope scope;
  Tensor all = Noise({420, 256});
  auto run = [&](int64_t n) {
    Feed(scope, "x",
         F32({n, 256}, llvm::ArrayRef(all.data<float>(), static_cast<size_t>(n) * 256)));
    EXPECT_EQ(Message(network->Run(&scope, &context)), "");
    return Bytes(scope, "y");
  };
  const int64_t before = HostMemoryInUse();
  const std::string first = run(400);
  const int64_t arena = HostMemoryInUse() - before;
  ASSERT_GT(arena, int64_t{300} << 10);
  // Smaller arenas reuse the same memory, larger ones need one more block.
  for (int64_t n = 399; n > 384; --n) run(n);
  EXPECT_LT(HostMemoryInUse() - before, arena + (64 << 10));
  for (int64_t n = 401; n < 417; ++n) run(n);
  EXPECT_LT(HostMemoryInUse() - before, 3 * arena);
  EXPECT_EQ(run(400), first);
}

TEST(NetworkPlan, ReusesTheArena) {
  std::string text = "input x: f32[N]\ny0 = x\n";
  for (int i = 0; i < 100; ++i) {
    std::string k = std::to_string(i), next = std::to_string(i + 1);
    text += "y" + next + " = y" + k + " + sum(y" + k + ") * 0.001\n";
  }
  NetworkOptions options;
  options.fuse = false;
  std::shared_ptr<const Network> network =
      MakeNetwork(text + "output y = y100\n", std::move(options));
  ASSERT_NE(network, nullptr);
  CPUContext context(1);
  Scope scope;
  Feed(scope, "x", Noise({100'000}));
  int64_t before = HostMemoryInUse();
  ASSERT_EQ(Message(network->Run(&scope, &context)), "");
  EXPECT_LT(HostMemoryInUse() - before, 4 * 100'000 * 4) << "100 results of 400 kB each";
}

}  // namespace
}  // namespace pdl
