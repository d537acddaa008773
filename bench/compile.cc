// Compilation of source to a graph, and loading of a network from a file.
#include <algorithm>

#include "bench/networks.h"
#include "benchmark/benchmark.h"

namespace pdl::bench {
namespace {

constexpr int kMany = kFileCalls, kFew = 10'000;

/// The work of `pdl check` on source.
void Check(const std::string& text) { benchmark::DoNotOptimize(CompileOrDie(text)); }

void CheckStatements(benchmark::State& state) {
  std::string text = ChainOfCosines(static_cast<int>(state.range(0)));
  for (auto _ : state) Check(text);
  state.counters["statements"] = benchmark::Counter(static_cast<double>(state.range(0)),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(CheckStatements)->Arg(kFew)->Arg(kMany)->Unit(benchmark::kMillisecond);

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// The ratio of the times for source of ten times the length, measured alternately.
void CheckRatio(benchmark::State& state) {
  std::string few = ChainOfCosines(kFew), many = ChainOfCosines(kMany);
  std::vector<double> few_seconds, many_seconds;
  for (auto _ : state) {
    double start = ProcessorSeconds();
    Check(few);
    double middle = ProcessorSeconds();
    Check(many);
    few_seconds.push_back(middle - start);
    many_seconds.push_back(ProcessorSeconds() - middle);
  }
  state.counters["ratio"] = Median(many_seconds) / Median(few_seconds);
}
BENCHMARK(CheckRatio)->Iterations(9)->Unit(benchmark::kMillisecond);

/// Layers and a loop: the time per block, which should not depend on the number of blocks.
void CheckTransformer(benchmark::State& state) {
  std::string text = Transformer(static_cast<int>(state.range(0)));
  for (auto _ : state) Check(text);
  state.counters["per_block"] = benchmark::Counter(
      static_cast<double>(state.range(0)),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(CheckTransformer)->Arg(12)->Arg(48)->Arg(192)->Unit(benchmark::kMillisecond);

std::shared_ptr<const Network> Load() {
  return llvm::cantFail(Network::Load(NetworkFile(), {}, GlobalRegistry()));
}

void LoadNetwork(benchmark::State& state) {
  NetworkFile();
  for (auto _ : state) benchmark::DoNotOptimize(Load());
  state.counters["per_call"] = benchmark::Counter(
      kMany, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(LoadNetwork)->Unit(benchmark::kMillisecond);

/// The first run makes the Plan.
void LoadNetworkAndRun(benchmark::State& state) {
  NetworkFile();
  CPUContext context(1);
  for (auto _ : state) {
    std::shared_ptr<const Network> network = Load();
    Scope scope;
    scope.Create("y0")->Set(Noise({1}));
    RunOrDie(*network, &scope, &context);
  }
  state.counters["per_call"] = benchmark::Counter(
      kMany, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(LoadNetworkAndRun)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pdl::bench
