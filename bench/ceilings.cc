// Comparison with the peak speeds of processor and memory, measured alternately.
#include "bench/ceilings.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "kernels/core/peak_loops.h"

namespace pdl::bench {
namespace {

/// The CPU time of this thread, which excludes other processes.
double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double Seconds(llvm::function_ref<void()> work) {
  const double begin = ThreadSeconds();
  work();
  return ThreadSeconds() - begin;
}

double Median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Operations per second of multiply-adds in registers, measured over about `operations` of them.
double FmaSpeed(double operations) {
  double done = 0;
  const double seconds = Seconds([&] { done = RunMultiplyAdds(operations); });
  return done / seconds;
}

double WallSeconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds for which a short `work` is repeated between two measurements of the peak.
constexpr double kSlice = 2e-3;

int TimesInSlice(llvm::function_ref<void()> work) {
  work();
  return std::max(1, static_cast<int>(kSlice / std::max(Seconds(work), 1e-9)));
}

}  // namespace

void AgainstFmaPeak(benchmark::State& state, double flops, llvm::function_ref<void()> work) {
  const int times = TimesInSlice(work);
  std::vector<double> ratios, speeds;
  FmaSpeed(flops * times);
  for (auto _ : state) {
    const double seconds = Seconds([&] {
                             for (int i = 0; i < times; ++i) work();
                           }) /
                           times;
    state.SetIterationTime(seconds);
    speeds.push_back(flops / seconds);
    ratios.push_back(speeds.back() / FmaSpeed(flops * times));
  }
  state.counters["GFLOP/s"] = Median(speeds) / 1e9;
  state.counters["of_peak"] = Median(ratios);
}

void AgainstMemcpy(benchmark::State& state, int64_t bytes, llvm::function_ref<void()> work) {
  const auto size = static_cast<size_t>(bytes);
  const auto from = std::make_unique<char[]>(size), to = std::make_unique<char[]>(size);
  std::memset(from.get(), 1, size);
  std::memset(to.get(), 2, size);
  std::vector<double> ratios;
  work();
  for (auto _ : state) {
    const double seconds = Seconds(work);
    state.SetIterationTime(seconds);
    ratios.push_back(seconds / Seconds([&] {
                       std::memcpy(to.get(), from.get(), size);
                       benchmark::DoNotOptimize(to.get());
                       benchmark::ClobberMemory();
                     }));
  }
  state.counters["of_memcpy"] = Median(ratios);
}

void AgainstRead(benchmark::State& state, int64_t bytes, bool uses_threads,
                 llvm::function_ref<void()> work) {
  const int64_t n = bytes / static_cast<int64_t>(sizeof(float));
  const std::vector<float> floats(static_cast<size_t>(n), 1.0f);
  const auto now = uses_threads ? WallSeconds : ThreadSeconds;
  std::vector<double> ratios, speeds;
  work();
  for (auto _ : state) {
    const double begin = now();
    work();
    const double middle = now();
    benchmark::DoNotOptimize(ReadFloats(floats.data(), n));
    const double end = now();
    state.SetIterationTime(middle - begin);
    ratios.push_back((end - middle) / (middle - begin));
    speeds.push_back(static_cast<double>(bytes) / (middle - begin));
  }
  state.counters["GB/s"] = Median(speeds) / 1e9;
  state.counters["of_read"] = Median(ratios);
}

}  // namespace pdl::bench
