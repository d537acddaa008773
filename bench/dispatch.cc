// What a call costs besides its arithmetic: 1000 of them over a few floats, one thread.
#include "bench/networks.h"
#include "benchmark/benchmark.h"

namespace pdl::bench {
namespace {

constexpr int kCalls = 1000;

/// Seconds for each call, printed as `per_call`.
benchmark::Counter PerCall() {
  return benchmark::Counter(
      kCalls, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Dispatch(benchmark::State& state, bool fuse) {
  std::shared_ptr<const Network> network = MakeNetwork(ChainOfAdds(kCalls), fuse);
  CPUContext context(1);
  Scope scope;
  scope.Create("x")->Set(Noise({state.range(0)}));
  RunOrDie(*network, &scope, &context);
  for (auto _ : state) RunOrDie(*network, &scope, &context);
  state.counters["per_call"] = PerCall();
}
BENCHMARK_CAPTURE(Dispatch, plain, false)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(Dispatch, fused, true)->Arg(1)->Arg(16)->Arg(1024);

/// Every run has sizes for which there is no binding: the cache holds fewer than there are.
void Bind(benchmark::State& state) {
  std::shared_ptr<const Network> network = MakeNetwork(ChainOfAdds(kCalls), false);
  CPUContext context(1);
  Scope scope;
  constexpr int kSizes = 100;
  std::vector<Tensor> inputs;
  for (int n = 1; n <= kSizes; ++n) inputs.push_back(Noise({n}));
  size_t next = 0;
  for (auto _ : state) {
    scope.Create("x")->Set(inputs[next++ % kSizes]);
    RunOrDie(*network, &scope, &context);
  }
  state.counters["per_call"] = PerCall();
}
BENCHMARK(Bind)->Name("BindNewSizeAndRun");

}  // namespace
}  // namespace pdl::bench
