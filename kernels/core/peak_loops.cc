#include "kernels/core/peak_loops.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/core/isa_dispatch.h"
#include "kernels/core/simd.h"

namespace pdl {
namespace {

/// Independent chains of multiply-adds, with the vectors of simd.h.
template <class S>
struct FmaChains {
  static constexpr int kChains = 12;
  static constexpr double kOperations = 2.0 * S::kLanes * kChains;  // of a step

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

/// The sum of n floats, in four vectors.
template <class S>
struct ReadLoop {
  static PDL_INLINE float Run(const float* x, int64_t n) {
    const float zeros[S::kLanes] = {};
    typename S::Floats sums[4];
    for (auto& sum : sums) sum = S::Load(zeros);
    for (int64_t i = 0; i + 4 * S::kLanes <= n; i += 4 * S::kLanes) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sums[v] = S::Add(sums[v], S::Load(x + i + v * S::kLanes));
    }
    float lanes[S::kLanes];
    S::Store(lanes, S::Add(S::Add(sums[0], sums[1]), S::Add(sums[2], sums[3])));
    return std::accumulate(lanes, lanes + S::kLanes, 0.0f);
  }
};

/// The vectors of the baseline, without a fused multiply-add.
struct Baseline {
  static constexpr int kLanes = 4;
  using Floats = float __attribute__((vector_size(16)));
  static PDL_INLINE Floats Set(float x) { return Floats{x, x, x, x}; }
  static PDL_INLINE Floats Load(const float* from) {
    Floats x;
    std::memcpy(&x, from, sizeof(x));
    return x;
  }
  static PDL_INLINE void Store(float* to, Floats x) { std::memcpy(to, &x, sizeof(x)); }
  static PDL_INLINE Floats Add(Floats a, Floats b) { return a + b; }
  static PDL_INLINE Floats Fma(Floats a, Floats b, Floats c) { return a * b + c; }
};

/// The form of a loop over the widest vectors of this machine.
template <template <class> class Loop, class Function>
Function Widest() {
  switch (CurrentIsa()) {
    case Isa::kAvx512:
      return &detail::IsaForms<Loop<simd::Avx512>, Function>::Avx512;
    case Isa::kAvx2:
      return &detail::IsaForms<Loop<simd::Avx2>, Function>::Avx2;
    case Isa::kBaseline:
      break;
  }
  return &detail::IsaForms<Loop<Baseline>, Function>::Baseline;
}

}  // namespace

double RunMultiplyAdds(double operations) {
  using Run = float (*)(int64_t steps, float x);
  const Isa isa = CurrentIsa();
  const double of_step = isa == Isa::kAvx512 ? FmaChains<simd::Avx512>::kOperations
                         : isa == Isa::kAvx2 ? FmaChains<simd::Avx2>::kOperations
                                             : FmaChains<Baseline>::kOperations;
  const int64_t steps = std::max<int64_t>(1000, static_cast<int64_t>(operations / of_step));
  // The result is stored so that it must be computed.
  volatile float x = 1;
  x = Widest<FmaChains, Run>()(steps, x);
  return of_step * static_cast<double>(steps);
}

float ReadFloats(const float* x, int64_t n) {
  return Widest<ReadLoop, float (*)(const float*, int64_t)>()(x, n);
}

}  // namespace pdl
