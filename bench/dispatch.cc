// The overhead of a call: 1000 calls on a few floats, one thread.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "bench/networks.h"
#include "benchmark/benchmark.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/trace.h"

namespace pdl::bench {
namespace {

constexpr int kCalls = 1000;

/// Seconds for each call, printed as `per_call`.
benchmark::Counter PerCall() {
  return benchmark::Counter(
      kCalls, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Checks that no call was optimized away, and that the result is right.
void CheckChain(const Network& network, const Scope& scope) {
  size_t adds = llvm::count_if(network.optimized_graph().ops(),
                               [](const Op* op) { return op->type() == "add"; });
  double sum = *scope.Find("x")->Get<Tensor>()->data<float>();
  for (int i = 0; i < kCalls; ++i) sum += AddedBy(i);
  double result = *scope.Find("y")->Get<Tensor>()->data<float>();
  if (adds != kCalls || std::abs(result / sum - 1) > 1e-4) {
    llvm::errs() << "pdl_bench: the result of " << adds << " additions is " << result << "\n";
    std::exit(1);
  }
}

void Dispatch(benchmark::State& state, bool fuse) {
  std::shared_ptr<const Network> network = MakeNetwork(ChainOfAdds(kCalls), fuse);
  CPUContext context(1);
  Scope scope;
  scope.Create("x")->Set(Noise({state.range(0)}));
  RunOrDie(*network, &scope, &context);
  CheckChain(*network, scope);
  for (auto _ : state) RunOrDie(*network, &scope, &context);
  state.counters["per_call"] = PerCall();
}
BENCHMARK_CAPTURE(Dispatch, plain, false)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(Dispatch, fused, true)->Arg(1)->Arg(16)->Arg(1024);

/// The same while a trace is recorded; the difference is the cost of an event.
void DispatchTraced(benchmark::State& state) {
  llvm::Expected<std::unique_ptr<Trace>> trace =
      Trace::Start("/dev/null", {.max_bytes = INT64_MAX, .source = "chain.pdl"});
  if (!trace) {
    llvm::errs() << "pdl_bench: " << llvm::toString(trace.takeError()) << "\n";
    std::exit(1);
  }
  Dispatch(state, false);
}
BENCHMARK(DispatchTraced)->Arg(1);

/// Every run makes a new binding: there are more sizes than the cache of bindings holds.
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
