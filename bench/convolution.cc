// The 3x3 convolutions of ResNet-50, on one thread, and what the processor could do at most.
#include <immintrin.h>

#include "bench/networks.h"
#include "benchmark/benchmark.h"

namespace pdl::bench {
namespace {

// Chains of products and sums that do not wait for each other.
constexpr int kChains = 24;

__attribute__((target("avx512f"))) float RunFma512(int64_t steps, float x) {
  __m512 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(x + static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  for (int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 24
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_fmadd_ps(sums[i], a, b);
  }
  for (int i = 1; i < kChains; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  return _mm512_reduce_add_ps(sums[0]);
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
  return _mm256_cvtss_f32(sums[0]);
}

void FmaPeak(benchmark::State& state) {
  constexpr int64_t kSteps = 1 << 16;
  const bool wide = __builtin_cpu_supports("avx512f");
  float x = 1;
  for (auto _ : state) {
    x = wide ? RunFma512(kSteps, x) : RunFma256(kSteps, x);
    benchmark::DoNotOptimize(x);
  }
  const double lanes = wide ? 16.0 * kChains : 8.0 * kChains / 2;
  state.counters["FLOP"] = benchmark::Counter(2 * lanes * static_cast<double>(kSteps),
                                              benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(FmaPeak)->Name("Peak/fma");

// Channels, and height and width.
void Conv3x3(benchmark::State& state) {
  const int64_t channels = state.range(0), size = state.range(1), batch = state.range(2);
  const std::string c = std::to_string(channels);
  const std::shared_ptr<const Network> network =
      MakeNetwork("input x: f32[N, " + c + ", H, H]\nparam w: f32[" + c + ", " + c +
                  ", 3, 3] = he_normal()\noutput y = conv2d(x, w, pad=1)\n");
  CPUContext context(1);
  Scope scope;
  scope.Create("x")->Set(Noise({batch, channels, size, size}));
  RunOrDie(*network, &scope, &context);
  for (auto _ : state) RunOrDie(*network, &scope, &context);
  state.counters["FLOP"] =
      benchmark::Counter(2.0 * 9 * static_cast<double>(batch * channels * channels * size * size),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Conv3x3)
    ->ArgNames({"channels", "size", "batch"})
    ->Args({64, 56, 1})
    ->Args({128, 28, 1})
    ->Args({256, 14, 1})
    ->Args({512, 7, 1})
    ->Args({64, 56, 8})
    ->Args({128, 28, 8})
    ->Args({256, 14, 8})
    ->Args({512, 7, 8})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pdl::bench
