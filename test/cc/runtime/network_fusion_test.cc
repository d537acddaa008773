// Groups that begin with a row producer or a tiled producer: the same bits as individual calls.
#include <cmath>
#include <string>
#include <vector>

#include "pdl/op/device_context.h"
#include "test/cc/testing/network_testing.h"

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
      {"a product with a bias",
       "input x: f32[N, D]\ninput z: f32[D, K]\ninput b: f32[K]\noutput y = gelu(x @ z + b)\n",
       {{"x", {100, 70}}, {"z", {70, 300}}, {"b", {300}}}},
      {"a product cut into rows, and what is added to it",
       "input x: f32[N, D]\ninput z: f32[D, K]\ninput b: f32[K]\ninput r: f32[N, K]\n"
       "output y = relu(x @ z + b) + r\n",
       {{"x", {5000, 64}}, {"z", {64, 64}}, {"b", {64}}, {"r", {5000, 64}}}},
      {"a product cut into columns",
       "input x: f32[N, D]\ninput z: f32[D, K]\ninput b: f32[K]\noutput y = silu(x @ z + b) * 2\n",
       {{"x", {3, 700}}, {"z", {700, 5000}}, {"b", {5000}}}},
      {"a product with a constant: its bias and activation in registers",
       "input x: f32[N, 300]\ninput b: f32[K]\nparam w: f32[300, 3000] = normal(std=0.1)\n"
       "param v: f32[300, 3000] = normal(std=0.1)\n"
       "output y = relu(x @ w + b)\noutput q = clip(b + x @ v, low=-1.0, high=1.0) * 2 + b\n",
       {{"x", {40, 300}}, {"b", {3000}}}},
      {"a product of a batch with a transposed constant, and a bias only",
       "input x: f32[B, N, 300]\ninput b: f32[K]\ninput r: f32[B, N, K]\n"
       "param w: f32[700, 300] = normal(std=0.1)\n"
       "param v: f32[300, 700] = normal(std=0.1)\n"
       "output y = matmul(x, w, transpose_b=true) + b + r\noutput q = hard_swish(x @ v)\n",
       {{"x", {3, 7, 300}}, {"b", {700}}, {"r", {3, 7, 700}}}},
      {"a product with a constant of f16",
       "input x: f32[N, 300]\ninput b: f32[K]\nparam w: f16[300, 700] = normal(std=0.1)\n"
       "output y = relu(cast(x, to=f16) @ w + cast(b, to=f16))\n",
       {{"x", {40, 300}}, {"b", {700}}}},
      {"products of a batch",
       "input x: f32[B, N, D]\ninput z: f32[B, D, K]\ninput b: f32[B, 1, K]\n"
       "output y = tanh(x @ z - b)\n",
       {{"x", {20, 9, 40}}, {"z", {20, 40, 50}}, {"b", {20, 1, 50}}}},
      {"a product that is an output itself",
       "input x: f32[N, D]\ninput z: f32[D, K]\noutput p = x @ z\noutput y = exp(p) + p\n",
       {{"x", {300, 70}}, {"z", {70, 130}}}},
      {"a product that is read when its place is written already",
       "input x: f32[N, D]\ninput z: f32[D, K]\np = x @ z\noutput q = exp(p)\noutput y = q + p\n",
       {{"x", {300, 70}}, {"z", {70, 130}}}},
      {"a product of another dtype than what follows",
       "input x: f32[N, D]\ninput z: f32[D, K]\noutput y = cast(x @ z, to=f64) * 2\n",
       {{"x", {300, 70}}, {"z", {70, 130}}}},
      {"truth values of a product",
       "input x: f32[N, D]\ninput z: f32[D, K]\noutput y = (x @ z) > 0.5\n",
       {{"x", {300, 70}}, {"z", {70, 130}}}},
      {"a product of halves",
       "input x: f32[N, D]\ninput z: f32[D, K]\n"
       "output y = relu(cast(x, to=bf16) @ cast(z, to=bf16)) + 1\n",
       {{"x", {300, 70}}, {"z", {70, 130}}}},
      {"a product of f64",
       "input x: f32[N, D]\ninput z: f32[D, K]\n"
       "output y = relu(cast(x, to=f64) @ cast(z, to=f64)) + 1\n",
       {{"x", {300, 70}}, {"z", {70, 130}}}},
      {"a product with a vector",
       "input x: f32[N, D]\ninput z: f32[D]\noutput y = relu(x @ z) + 1\n",
       {{"x", {300, 70}}, {"z", {70}}}},
      {"a product that adds up nothing",
       "input x: f32[N, D]\ninput z: f32[D, K]\noutput y = exp(x @ z) + 1\n",
       {{"x", {30, 0}}, {"z", {0, 20}}}},
      {"what a product reads is free behind it",
       "input x: f32[N, D]\ninput z: f32[D, D]\na = x * 2\noutput y = relu(a @ z) + a\n",
       {{"x", {300, 70}}, {"z", {70, 70}}}},
      {"two products meet",
       "input x: f32[N, D]\ninput z: f32[D, D]\noutput y = relu(x @ z + exp(x) @ z)\n",
       {{"x", {300, 70}}, {"z", {70, 70}}}},
      {"a product behind a product",
       "input x: f32[N, D]\ninput z: f32[D, D]\noutput y = relu(relu(x @ z) @ z) + x\n",
       {{"x", {300, 70}}, {"z", {70, 70}}}},
      {"a convolution, and all that is behind it",
       "input x: f32[N, C, H, W]\ninput w: f32[K, C, 3, 3]\ninput b: f32[K]\ninput v: f32[K]\n"
       "c = conv2d(conv2d(x, ones([5, 5, 1, 1])), w, b, pad=1)\nn = normalize(c, b, v * v, v, b)\n"
       "output y = clip(n, low=0.0, high=6.0)\n",
       {{"x", {3, 5, 40, 30}}, {"w", {24, 5, 3, 3}}, {"b", {24}}, {"v", {24}}}},
      {"a convolution of an image that is added to it",
       "input x: f32[N, C, H, W]\ninput w: f32[C, C, 3, 3]\ninput b: f32[C, 1, 1]\n"
       "d = relu(conv2d(x, w, pad=1) * b + x)\noutput y = tanh(conv2d(d, w, pad=1) * b + d)\n",
       {{"x", {2, 300, 9, 7}}, {"w", {300, 300, 3, 3}}, {"b", {300, 1, 1}}}},
      {"empty rows",
       "input x: f32[N, D]\ninput g: f32[D]\noutput y = softmax(x) * g + g\n",
       {{"x", {5, 0}}, {"g", {0}}}},
  };
}

std::string OutputsOf(const Case& of, bool fuse, int threads) {
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
  for (const char* name : {"p", "q", "y"}) {
    if (scope.Find(name)) bytes += Bytes(scope, name);
  }
  return bytes;
}

TEST(NetworkFusion, RowsInAGroupGiveTheSameBits) {
  for (const Case& of : Cases()) {
    const std::string plain = OutputsOf(of, false, 1);
    for (int threads : {1, 3}) {
      EXPECT_TRUE(plain == OutputsOf(of, true, threads))
          << of.name << ", " << threads << " threads";
    }
  }
}

// A matrix of one column, and its transpose, have the same strides and other packed forms.
TEST(NetworkFusion, AColumnAndItsTransposeArePackedForThemselves) {
  const auto network = MakeNetwork(
      "input x: f32[2, 300000]\ninput z: f32[2, 1]\nparam w: f32[300000, 1] = normal()\n"
      "output q = x @ w\noutput y = matmul(z, w, transpose_b=true)\n");
  ASSERT_TRUE(network);
  Scope scope;
  CPUContext cpu(1);
  const Tensor x = Noise({2, 300000}), z = Noise({2, 1}, 2);
  Feed(scope, "x", x);
  Feed(scope, "z", z);
  llvm::cantFail(network->Run(&scope, &cpu));
  const float* y = scope.Find("y")->Get<Tensor>()->data<float>();
  const float* q = scope.Find("q")->Get<Tensor>()->data<float>();
  const float *a = x.data<float>(), *b = z.data<float>();
  double sum = 0, magnitude = 0;
  for (int64_t i = 0; i < 300000; ++i) {
    const double w = double{y[i]} / b[0];
    ASSERT_NEAR(y[300000 + i], w * b[1], 1e-5);
    sum += double{a[i]} * w;
    magnitude += std::fabs(w);
  }
  EXPECT_GT(magnitude, 100000);
  EXPECT_NEAR(q[0], sum, 0.01);
}

// Sizes with non-temporal stores: by lines, by tiles with a remainder, and rows that begin
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
