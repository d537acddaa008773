// Comparison with the peak speeds of processor and memory, measured alternately.
#include "bench/ceilings.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/core/isa_dispatch.h"
#include "kernels/core/simd.h"

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

/// Independent chains of multiply-adds, with the vectors of simd.h.
template <class S>
struct FmaChains {
  static constexpr int kChains = 12;
  static constexpr double kFlops = 2.0 * S::kLanes * kChains;  // of a step

  static PDL_INLINE float Run(int64_t steps, float x) {
    const auto a = S::Set(0.5f), b = S::Set(0.25f);
    // Different lanes, so that the compiler does not merge the chains.
    float lanes[S::kLanes];
    for (int i = 0; i < S::kLanes; ++i) lanes[i] = x + static_cast<float>(i);
    typename S::Floats sums[kChains];
    for (int i = 0; i < kChains; ++i)
      sums[i] = S::Add(S::Load(lanes), S::Set(static_cast<float>(i)));
    for (int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
      for (int i = 0; i < kChains; ++i) sums[i] = S::Fma(sums[i], a, b);
    }
    for (int i = 1; i < kChains; ++i) sums[0] = S::Add(sums[0], sums[i]);
    S::Store(lanes, sums[0]);
    return std::accumulate(lanes, lanes + S::kLanes, 0.0f);
  }
};

/// Floating-point operations per second of the chains, measured over about `flops` of them.
double FmaSpeed(double flops) {
  const bool wide = __builtin_cpu_supports("avx512f");
  using Wide = FmaChains<simd::Avx512>;
  using Narrow = FmaChains<simd::Avx2>;
  using Run = float (*)(int64_t steps, float x);
  const Run run =
      wide ? &detail::IsaForms<Wide, Run>::Avx512 : &detail::IsaForms<Narrow, Run>::Avx2;
  const double of_step = wide ? Wide::kFlops : Narrow::kFlops;
  const int64_t steps = std::max<int64_t>(1000, static_cast<int64_t>(flops / of_step));
  float x = 1;
  const double seconds = Seconds([&] {
    benchmark::DoNotOptimize(x);
    x = run(steps, x);
    benchmark::DoNotOptimize(x);
  });
  return of_step * static_cast<double>(steps) / seconds;
}

/// The sum of n floats, in four vectors.
template <class S>
struct ReadLoop {
  static PDL_INLINE float Run(const float* x, int64_t n) {
    typename S::Floats sums[4];
    for (auto& sum : sums) sum = S::Add(S::Load(x), S::Set(0.0f));
    for (int64_t i = 0; i + 4 * S::kLanes <= n; i += 4 * S::kLanes) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sums[v] = S::Add(sums[v], S::Load(x + i + v * S::kLanes));
    }
    float lanes[S::kLanes];
    S::Store(lanes, S::Add(S::Add(sums[0], sums[1]), S::Add(sums[2], sums[3])));
    return std::accumulate(lanes, lanes + S::kLanes, 0.0f);
  }
};

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
  using Read = float (*)(const float* x, int64_t n);
  const Read read = __builtin_cpu_supports("avx512f")
                        ? &detail::IsaForms<ReadLoop<simd::Avx512>, Read>::Avx512
                        : &detail::IsaForms<ReadLoop<simd::Avx2>, Read>::Avx2;
  const auto now = uses_threads ? WallSeconds : ThreadSeconds;
  std::vector<double> ratios, speeds;
  work();
  for (auto _ : state) {
    const double begin = now();
    work();
    const double middle = now();
    benchmark::DoNotOptimize(read(floats.data(), n));
    const double end = now();
    state.SetIterationTime(middle - begin);
    ratios.push_back((end - middle) / (middle - begin));
    speeds.push_back(static_cast<double>(bytes) / (middle - begin));
  }
  state.counters["GB/s"] = Median(speeds) / 1e9;
  state.counters["of_read"] = Median(ratios);
}

}  // namespace pdl::bench
