// Concurrent runs of one Network: right results, and the same bits for any number of threads.
#include <atomic>
#include <thread>

#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

TEST(NetworkThreads, EightRunOneNetworkAtOnce) {
  std::shared_ptr<const Network> network = MakeNetwork(
      "input x: f32[N, 24]\n"
      "param w: f32[24, 40] = normal(std=0.3)\n"
      "state total: f32[] = zeros()\n"
      "h = tanh(x @ w + 0.5)\n"
      "output prob = softmax(h * h)\n"
      "output means = mean(h, axes=[0])\n"
      "update total = total + sum(x)\n");
  ASSERT_NE(network, nullptr);
  constexpr int kThreads = 8, kRuns = 12, kSizes = 5;
  std::vector<std::string> prob(kSizes), means(kSizes);
  CPUContext one(1);
  for (int i = 0; i < kSizes; ++i) {
    Scope scope;
    Feed(scope, "x", Noise({1 + 7 * i, 24}, static_cast<uint32_t>(i)));
    EXPECT_EQ(Message(network->Run(&scope, &one)), "");
    prob[i] = Bytes(scope, "prob");
    means[i] = Bytes(scope, "means");
  }
  CPUContext shared(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Scope scope;
      CPUContext own(1 + t % 2);
      for (int run = 0; run < kRuns; ++run) {
        int i = (t + run) % kSizes;
        Feed(scope, "x", Noise({1 + 7 * i, 24}, static_cast<uint32_t>(i)));
        CPUContext& context = t % 3 == 0 ? own : shared;
        wrong += Message(network->Run(&scope, &context)) != "";
        wrong += Bytes(scope, "prob") != prob[i] || Bytes(scope, "means") != means[i];
        // A failing run, concurrent with the others.
        Feed(scope, "x", Noise({1, 23}));
        wrong += Message(network->Run(&scope, &context)).empty();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(NetworkThreads, AnyCountGivesTheSameBits) {
  std::shared_ptr<const Network> network = MakeNetwork(
      "input x: f32[N, 500]\n"
      "input d: f64[M, 130]\n"
      "param w: f32[500, 300] = normal(std=0.1)\n"
      "param v: f32[300, 64] = normal(std=0.1)\n"
      "h = x @ w\n"
      "act = sigmoid(h) * h + cos(h, scale=0.5)\n"
      "output act\n"
      "output y = act @ v\n"
      "output square = matmul(x, x, transpose_a=true)\n"
      "output prob = softmax(act)\n"
      "output columns = softmax(act, axis=0)\n"
      "output all = sum(exp(x))\n"
      "output rows = mean(x, axes=[1])\n"
      "output cols = sum(x, axes=[0])\n"
      "output top = max(x, axes=[0])\n"
      "output which = argmax(x, axis=1)\n"
      "output near = cos_sim(x, sin(x))\n"
      "output turned = transpose(x, [1, 0]) + 1\n"
      "output gram = matmul(d, d, transpose_a=true)\n"
      "output deep = sum(tanh(d))\n"
      "output joined = concat(x[:, 0:100], x[:, 250:300], axis=1)\n"
      "output drawn = normal([N, 300]) + act\n");
  ASSERT_NE(network, nullptr);
  Tensor x = Noise({411, 500}), d = Noise({777, 130}, 7);
  std::vector<double> doubles(d.data<float>(), d.data<float>() + d.num_elements());
  std::vector<std::string> first;
  for (int threads : {1, 2, 3, 8}) {
    Scope scope;
    CPUContext context(threads);
    Feed(scope, "x", x);
    Feed(scope, "d", Tensor::FromValues<double>(DType::kF64, d.sizes(), doubles));
    ASSERT_EQ(Message(network->Run(&scope, &context)), "");
    for (size_t i = 0; i < network->graph().outputs().size(); ++i) {
      const std::string& name = network->graph().outputs()[i].name;
      std::string bytes = Bytes(scope, name);
      EXPECT_NE(bytes, "nothing");
      if (threads == 1) {
        first.push_back(std::move(bytes));
      } else {
        EXPECT_TRUE(bytes == first[i]) << name << " differs with " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace pdl
