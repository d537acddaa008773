// What the processor and the memory could do at most, measured beside what is compared with it.
#include "bench/ceilings.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

namespace pdl::bench {
namespace {

/// The processor time of this thread: what else runs on the machine does not count.
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

// Chains of products and sums that do not wait for each other.
constexpr int kChains = 24;

// GCC 12 takes the undefined value inside _mm512_reduce_add_ps for a mistake of ours, so the lanes
// are stored and summed by hand.
__attribute__((target("avx512f"))) float RunFma512(int64_t steps, float x) {
  __m512 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(x + static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  for (int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 24
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_fmadd_ps(sums[i], a, b);
  }
  for (int i = 1; i < kChains; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  float lanes[16];
  _mm512_storeu_ps(lanes, sums[0]);
  return lanes[0];
}

__attribute__((target("avx2,fma"))) float RunFma256(int64_t steps, float x) {
  constexpr int kHalf = kChains / 2;
  __m256 sums[kHalf];
  for (int i = 0; i < kHalf; ++i) sums[i] = _mm256_set1_ps(x + static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
  for (int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (int i = 0; i < kHalf; ++i) sums[i] = _mm256_fmadd_ps(sums[i], a, b);
  }
  for (int i = 1; i < kHalf; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  float lanes[8];
  _mm256_storeu_ps(lanes, sums[0]);
  return lanes[0];
}

/// Floating-point operations a second of the chains, about `flops` of them.
double FmaSpeed(double flops) {
  const bool wide = __builtin_cpu_supports("avx512f");
  const double of_step = 2 * (wide ? 16.0 * kChains : 8.0 * kChains / 2);
  const int64_t steps = std::max<int64_t>(1000, static_cast<int64_t>(flops / of_step));
  float x = 1;
  const double seconds = Seconds([&] {
    benchmark::DoNotOptimize(x);
    x = wide ? RunFma512(steps, x) : RunFma256(steps, x);
    benchmark::DoNotOptimize(x);
  });
  return of_step * static_cast<double>(steps) / seconds;
}

/// Of which a short `work` is run together between two looks at the ceiling.
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

}  // namespace pdl::bench
