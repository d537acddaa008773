#include "kernels/core/peak_loops.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "kernels/core/registers.h"

namespace pdl {
namespace {

/// Independent chains of multiply-adds in registers. Returns the number of operations; `x` depends
/// on all of them.
template <class R>
struct FmaChains {
  static PDL_INLINE double Run(double operations, float* x) {
    constexpr int kChains = 12;
    constexpr bool kAddsPairs = std::is_same_v<R, simd::RegisterBf16>;
    constexpr double kOperationsOfStep = (kAddsPairs ? 4.0 : 2.0) * R::kLanes * kChains;
    const int64_t steps =
        std::max<int64_t>(1000, static_cast<int64_t>(operations / kOperationsOfStep));
    const typename R::V a = R::Set(0.5f), b = R::Set(0.25f);
    const float word = 0.5f;
    const auto pairs = R::SplatWord(&word);
    // Different lanes, so that the compiler does not merge the chains.
    float lanes[R::kLanes];
    for (int i = 0; i < R::kLanes; ++i) lanes[i] = *x + static_cast<float>(i);
    typename R::V sums[kChains];
    for (int i = 0; i < kChains; ++i)
      sums[i] = R::Add(R::Load(lanes), R::Set(static_cast<float>(i)));
    for (int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
      for (int i = 0; i < kChains; ++i) {
        if constexpr (kAddsPairs) {
          sums[i] = R::MulAdd(pairs, pairs, sums[i]);
        } else {
          sums[i] = R::MulAdd(sums[i], a, b);
        }
      }
    }
    for (int i = 1; i < kChains; ++i) sums[0] = R::Add(sums[0], sums[i]);
    R::Store(lanes, sums[0]);
    *x = std::accumulate(lanes, lanes + R::kLanes, 0.0f);
    return kOperationsOfStep * static_cast<double>(steps);
  }
};

/// The sum of n floats, in four registers.
template <class R>
struct ReadLoop {
  static PDL_INLINE float Run(const float* x, int64_t n) {
    typename R::V sums[4];
    for (auto& sum : sums) sum = R::Set(0);
    for (int64_t i = 0; i + 4 * R::kLanes <= n; i += 4 * R::kLanes) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sums[v] = R::Add(sums[v], R::Load(x + i + v * R::kLanes));
    }
    float lanes[R::kLanes];
    R::Store(lanes, R::Add(R::Add(sums[0], sums[1]), R::Add(sums[2], sums[3])));
    return std::accumulate(lanes, lanes + R::kLanes, 0.0f);
  }
};

}  // namespace

static double Run(double (*chains)(double, float*), double operations) {
  float x = 1;
  const double done = chains(operations, &x);
  // The result is stored so that it must be computed.
  volatile float stored = x;
  static_cast<void>(stored);
  return done;
}

double RunMultiplyAdds(double operations) {
  return Run(ChooseRegister<float, FmaChains>(), operations);
}

double RunBf16MultiplyAdds(double operations) {
  return Run(ChooseBf16Register<FmaChains>(), operations);
}

float ReadFloats(const float* x, int64_t n) { return ChooseRegister<float, ReadLoop>()(x, n); }

}  // namespace pdl
