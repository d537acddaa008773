// sigmoid and silu over the structs of simd.h, correct to 1.8 and 1.9 ULP over all floats.
#ifndef PDL_KERNELS_ELEMENTWISE_LOGISTIC_MATH_H_
#define PDL_KERNELS_ELEMENTWISE_LOGISTIC_MATH_H_

#include "kernels/core/simd.h"
#include "kernels/elementwise/tail_math.h"

namespace pdl::simd {

namespace detail {

/// 1 + exp(-x) = divisor / factor, for x in [-112, 20] or NaN. `factor` is a power of two, and less
/// than 1 only where the sum would overflow.
template <class S>
struct LogisticDivisor {
  using F = typename S::Floats;

  explicit PDL_INLINE LogisticDivisor(const F& x) {
    constexpr float kLn2High = 0x1.62e430p-1f, kLn2Low = -0x1.05c610p-29f;
    // exp(-x) = 2^n * (1 + p). The low bits hold n + 127: shifted into the exponent they are 2^n.
    const auto magic = S::Set(0x1.8p23f + 127.0f);
    const F shifted = S::Fma(x, S::Set(-0x1.715476p+0f), magic);
    const F n = S::Sub(shifted, magic);
    const F r = S::Fma(n, S::Set(kLn2Low), S::Fma(n, S::Set(kLn2High), x));
    F p = S::Fma(S::Set(kExponential[5]), r, S::Set(kExponential[4]));
    for (int i = 3; i >= 0; --i) p = S::Fma(p, r, S::Set(kExponential[i]));
    p = S::Mul(p, r);
    const F excess = S::Max(S::Set(0.0f), S::Sub(n, S::Set(126.0f)));
    const F power = S::template ShiftLeft<23>(S::Sub(shifted, excess));
    factor = S::template ShiftLeft<23>(S::Sub(magic, excess));
    // 2^n + 1 is exact for |n| < 24, so that only the last sum rounds; `low` is what it lost.
    const F sum = S::Add(power, S::Set(1.0f));
    const F low = S::Sub(S::Set(1.0f), S::Sub(sum, power));
    divisor = S::Add(S::Fma(power, p, low), sum);
  }
  F divisor, factor;
};

}  // namespace detail

/// 1 / (1 + exp(-x)).
template <class S>
struct Sigmoid {
  using F = typename S::Floats;

  PDL_INLINE F operator()(const F& x) const {
    const detail::LogisticDivisor<S> by(S::Min(S::Set(20.0f), S::Max(S::Set(-112.0f), x)));
    return S::Mul(S::Div(S::Set(1.0f), by.divisor), by.factor);
  }
};

/// x / (1 + exp(-x)).
template <class S>
struct Silu {
  using F = typename S::Floats;

  PDL_INLINE F operator()(const F& x) const {
    const F at_least = S::Max(S::Set(-112.0f), x);
    const detail::LogisticDivisor<S> by(S::Min(S::Set(20.0f), at_least));
    return S::Mul(S::Div(at_least, by.divisor), by.factor);
  }
};

}  // namespace pdl::simd

#endif  // PDL_KERNELS_ELEMENTWISE_LOGISTIC_MATH_H_
