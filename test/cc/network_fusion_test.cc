// Groups that begin with a call that makes rows: the same bits as call by call.
#include <string>
#include <vector>

#include "network_testing.h"
#include "pdl/device_context.h"

namespace pdl {
namespace {

struct Case {
  const char* name;
  std::string text;
  std::vector<std::pair<std::string, Sizes>> inputs;
};

std::vector<Case> Cases() {
  return {
      {"weights of a row",
       "input x: f32[N, D]\ninput g: f32[D]\ninput b: f32[D]\n"
       "output y = gelu(standardize(x) * g + b)\n",
       {{"x", {37, 300}}, {"g", {300}}, {"b", {300}}}},
      {"weights that are the rows' own",
       "input x: f32[N, D]\ninput g: f32[D]\ninput b: f32[D]\n"
       "output y = gelu(standardize(x, g, b))\n",
       {{"x", {37, 300}}, {"g", {300}}, {"b", {300}}}},
      {"short rows",
       "input x: f32[N, D]\ninput g: f32[D]\noutput y = softmax(x) * g - 1\n",
       {{"x", {1001, 7}}, {"g", {7}}}},
      {"rows longer than the buffer",
       "input x: f32[N, D]\ninput g: f32[D]\noutput y = relu(log_softmax(x) * g)\n",
       {{"x", {3, 20000}}, {"g", {20000}}}},
      {"a result larger than the cache",
       "input x: f32[N, D]\ninput g: f32[D]\noutput y = standardize(x) * g\n",
       {{"x", {2300, 4096}}, {"g", {4096}}}},
      {"rows that are cut by what is broadcast",
       "input x: f32[B, T, D]\ninput g: f32[T, D]\ninput s: f32[B, 1, 1]\n"
       "output y = softmax(x) * g + s\n",
       {{"x", {5, 30, 300}}, {"g", {30, 300}}, {"s", {5, 1, 1}}}},
      {"an axis in the middle",
       "input x: f32[B, T, D]\ninput g: f32[D]\noutput y = tanh(softmax(x, axis=1)) * g\n",
       {{"x", {4, 9, 40}}, {"g", {40}}}},
      {"rows that are an output themselves",
       "input x: f32[N, D]\ninput g: f32[D]\noutput p = softmax(x)\noutput y = p * g + x\n",
       {{"x", {40, 300}}, {"g", {300}}}},
      {"other dtypes",
       "input x: f32[N, D]\noutput y = cast(standardize(cast(x, to=f16)), to=f64) * 2 + cast(x, "
       "to=f64)\n",
       {{"x", {40, 300}}}},
      {"two calls that make rows meet",
       "input x: f32[N, D]\ninput z: f32[N, D]\noutput y = softmax(x) * 2 - standardize(z) * 3\n",
       {{"x", {40, 300}}, {"z", {40, 300}}}},
      {"rows behind rows",
       "input x: f32[N, D]\noutput y = softmax(standardize(x) * 2 + 1) * x\n",
       {{"x", {40, 300}}}},
      {"a chain before the rows, and one that joins them",
       "input x: f32[N, D]\ninput z: f32[N, D]\n"
       "output y = exp(z) * standardize(x + 1) + exp(z)\n",
       {{"x", {40, 300}}, {"z", {40, 300}}}},
      {"in place",
       "input x: f32[N, D]\na = x * 2\noutput y = relu(softmax(a)) + a\n",
       {{"x", {40, 300}}}},
      {"one row",
       "input x: f32[N, D]\ninput g: f32[D]\noutput y = standardize(x) * g + g\n",
       {{"x", {1, 300}}, {"g", {300}}}},
      {"no rows",
       "input x: f32[N, D]\ninput g: f32[D]\noutput y = standardize(x) * g + g\n",
       {{"x", {0, 300}}, {"g", {300}}}},
      {"empty rows",
       "input x: f32[N, D]\ninput g: f32[D]\noutput y = softmax(x) * g + g\n",
       {{"x", {5, 0}}, {"g", {0}}}},
  };
}

std::string Outputs(const Case& of, bool fuse, int threads) {
  NetworkOptions options;
  options.fuse = fuse;
  const auto network = MakeNetwork(of.text, std::move(options));
  if (!network) return "";
  Scope scope;
  uint32_t seed = 0;
  for (const auto& [name, sizes] : of.inputs) Feed(scope, name, Noise(sizes, ++seed));
  CPUContext context(threads);
  if (llvm::Error error = network->Run(&scope, &context)) {
    ADD_FAILURE() << of.name << ": " << llvm::toString(std::move(error));
    return "";
  }
  std::string bytes;
  for (const char* name : {"p", "y"}) {
    if (scope.Find(name)) bytes += Bytes(scope, name);
  }
  return bytes;
}

TEST(NetworkFusion, RowsInAGroupGiveTheSameBits) {
  for (const Case& of : Cases()) {
    const std::string plain = Outputs(of, false, 1);
    for (int threads : {1, 3}) {
      EXPECT_TRUE(plain == Outputs(of, true, threads)) << of.name << ", " << threads << " threads";
    }
  }
}

// Sizes that are stored past the cache: by lines, by pieces with a rest, and rows that begin
// anywhere.
TEST(NetworkFusion, WeightsOfRowsGiveTheSameBitsAsCalls) {
  const auto network = MakeNetwork(
      "input x: f32[N, D]\ninput g: f32[D]\ninput b: f32[D]\n"
      "output y = standardize(x, g, b), z = standardize(x) * g + b\n"
      "output u = standardize(x, beta=b), v = standardize(x) + b\n");
  ASSERT_TRUE(network);
  for (const Sizes& sizes : std::vector<Sizes>{{2300, 4096}, {9000, 1008}, {9100, 1001}, {40, 7}}) {
    Scope scope;
    Feed(scope, "x", Noise(sizes, 1));
    Feed(scope, "g", Noise({sizes[1]}, 2));
    Feed(scope, "b", Noise({sizes[1]}, 3));
    CPUContext context(2);
    llvm::Error error = network->Run(&scope, &context);
    ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
    EXPECT_TRUE(Bytes(scope, "y") == Bytes(scope, "z")) << sizes[1];
    EXPECT_TRUE(Bytes(scope, "u") == Bytes(scope, "v")) << sizes[1];
  }
}

}  // namespace
}  // namespace pdl
