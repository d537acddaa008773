// A few large calls, for information.
#include "bench/networks.h"
#include "benchmark/benchmark.h"

namespace pdl::bench {
namespace {

void RunText(benchmark::State& state, const std::string& text,
             std::initializer_list<std::pair<const char*, Sizes>> inputs, int threads = 1) {
  std::shared_ptr<const Network> network = MakeNetwork(text);
  CPUContext context(threads);
  Scope scope;
  uint32_t seed = 0;
  for (const auto& [name, sizes] : inputs) scope.Create(name)->Set(Noise(sizes, ++seed));
  RunOrDie(*network, &scope, &context);
  for (auto _ : state) RunOrDie(*network, &scope, &context);
}

void CheapChain(benchmark::State& state) {
  RunText(state, "input x: f32[N]\noutput y = relu(abs(x * 2 + 1) - 0.5)\n",
          {{"x", {int64_t{16} << 20}}});
}
BENCHMARK(CheapChain)->Name("Chain/mul,add,abs,sub,relu/16M")->Unit(benchmark::kMillisecond);

void DearChain(benchmark::State& state) {
  RunText(state, "input x: f32[N]\noutput y = sigmoid(tanh(exp(sin(cos(x)))))\n",
          {{"x", {int64_t{16} << 20}}});
}
BENCHMARK(DearChain)->Name("Chain/cos,sin,exp,tanh,sigmoid/16M")->Unit(benchmark::kMillisecond);

void Matmul(benchmark::State& state) {
  int64_t n = state.range(0);
  std::string size = std::to_string(n);
  RunText(state,
          "input x: f32[N, " + size + "]\nparam w: f32[" + size + ", " + size +
              "] = normal()\noutput y = x @ w\n",
          {{"x", {n, n}}}, static_cast<int>(state.range(1)));
  state.counters["FLOP"] = benchmark::Counter(2.0 * static_cast<double>(n * n * n),
                                              benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Matmul)
    ->ArgNames({"n", "threads"})
    ->Args({256, 1})
    ->Args({1024, 1})
    ->Args({1024, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void Softmax(benchmark::State& state) {
  RunText(state, "input x: f32[N, M]\noutput y = softmax(x)\n", {{"x", {4096, 4096}}});
}
BENCHMARK(Softmax)->Name("Softmax/4096x4096")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pdl::bench
