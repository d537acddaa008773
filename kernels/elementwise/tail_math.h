// Activations that are linear except for a tail: gelu, softplus, and log_sigmoid.
//
// Each is a ramp plus or minus a tail m * exp(-v) * R, where m is |x| = t or 1, v depends on t, and
// R is smooth in t: a polynomial on each of 16 intervals or, for gelu, one polynomial of a
// quotient. The formulas are written over the structs of simd.h and are correct to about 2 ULP over
// all floats, gelu to about 4.
#ifndef PDL_KERNELS_ELEMENTWISE_TAIL_MATH_H_
#define PDL_KERNELS_ELEMENTWISE_TAIL_MATH_H_

#include "kernels/core/simd.h"

namespace pdl::simd {

/// R on each interval; intervals are indexed by the exponent and the first two bits of a number in
/// [1, 16). `centers` are the points from which distances are measured, chosen so that R is a float
/// there; the coefficients are in ascending order, times 2^-64. Minimax fits (Remez).
struct TailTable {
  float centers[kTableSize];
  float coefficients[7][kTableSize];
};

namespace detail {

// clang-format off
// 1 / (1 + exp(-v)) with v = sqrt(8 / pi) * (t + 0.044715 t^3), indexed by 1 + t.
inline constexpr TailTable kApproximateGeluTable = {
    {0x1.3f2a4cp+0f, 0x1.c0ae4p+0f, 0x1.206e24p+1f, 0x1.60340ep+1f, 0x1.c01704p+1f, 0x1.1f88p+2f, 0x1.60a3d8p+2f, 0x1.a0a3d8p+2f, 0x1.00a3d8p+3f, 0x1.40a3d8p+3f, 0x1.67d70ap+3f, 0x1.afae14p+3f, 0.0f, 0x1.81ca18p-2f, 0x1.3fe038p-1f, 0x1.c12f92p-1f},
    {
        {0x1.c9829ap-65f, 0x1.eb93fp-65f, 0x1.f9dd74p-65f, 0x1.fe91c4p-65f, 0x1.ffe8fep-65f, 0x1.ffffd8p-65f, 0x1p-64f, 0x1p-64f, 0x1p-64f, 0x1p-64f, 0x1p-64f, 0x1p-64f, 0x1p-65f, 0x1.4b29d2p-65f, 0x1.77be6p-65f, 0x1.9e935p-65f},
        {0x1.7799cap-67f, 0x1.61757cp-68f, 0x1.042d64p-69f, 0x1.25acecp-71f, 0x1.8439fap-75f, 0x1.daab4ap-82f, 0x1.146f16p-91f, 0x1.049f14p-104f, 0x1.005172p-119f, 0.0f, 0.0f, 0.0f, 0x1.988454p-66f, 0x1.7c6892p-66f, 0x1.4fd914p-66f, 0x1.15c38cp-66f},
        {-0x1.d2360cp-68f, -0x1.339c76p-68f, -0x1.25d876p-69f, -0x1.9fe2dp-71f, -0x1.76da44p-74f, -0x1.4aeda8p-80f, -0x1.b131e2p-88f, -0x1.64a88cp-101f, -0x1.aed0cap-117f, 0.0f, 0.0f, 0.0f, -0x1.7ce89cp-87f, -0x1.1fc98ep-68f, -0x1.a4a1f8p-68f, -0x1.e74d5cp-68f},
        {0x1.17adc6p-70f, 0x1.de2e04p-70f, 0x1.5cb0f4p-70f, 0x1.4c708ep-71f, 0x1.b11092p-74f, 0x1.1b9304p-79f, 0x1.471dfcp-88f, 0x1.a76ab6p-101f, -0x1.f4f39ap-117f, 0.0f, 0.0f, 0.0f, -0x1.11ac66p-68f, -0x1.b3b7aap-69f, -0x1.0ee3ecp-69f, -0x1.46dca6p-71f},
        {0x1.b6c46ep-71f, -0x1.0b1cfp-75f, -0x1.802aaep-72f, -0x1.34dd5ep-72f, -0x1.467918p-74f, -0x1.5d9e32p-79f, 0x1.3cc086p-85f, 0x1.2a7b36p-100f, 0x1.ad1b28p-115f, 0.0f, 0.0f, 0.0f, -0x1.dac3ecp-79f, 0x1.169984p-70f, 0x1.721eep-70f, 0x1.6ad6fp-70f},
        {-0x1.873572p-72f, -0x1.085e62p-72f, -0x1.fb05b8p-76f, 0x1.03f9ecp-74f, 0x1.42d27cp-75f, 0x1.62b1dcp-79f, 0x1.02ae7cp-86f, 0x1.31c808p-97f, 0x1.617fe4p-116f, 0.0f, 0.0f, 0.0f, 0x1.59a0ecp-71f, 0x1.bbeacp-72f, 0x1.108012p-73f, -0x1.516d0ep-73f},
        {-0x1.c63f94p-76f, 0x1.4f769ep-74f, 0x1.d2dc32p-75f, 0x1.3e615ep-77f, -0x1.605dd6p-77f, -0x1.b1e92cp-80f, -0x1.2192f6p-83f, -0x1.5f9c12p-96f, -0x1.94ccacp-115f, 0.0f, 0.0f, 0.0f, -0x1.11c35ep-74f, -0x1.7bdb42p-73f, -0x1.db2f46p-73f, -0x1.5b0c82p-73f},
    }};

// log(1 + exp(-t)) / exp(-t), indexed by 1 + t / 2.
inline constexpr TailTable kSoftplusTable = {
    {0x1.40107p+1f, 0x1.bf02d8p+1f, 0x1.207c64p+2f, 0x1.5fa8ep+2f, 0x1.c0a34ap+2f, 0x1.1f8b48p+3f, 0x1.600608p+3f, 0x1.9fef04p+3f, 0x1.feb852p+3f, 0x1.40a3d8p+4f, 0x1.80a3d8p+4f, 0x1.c0a3d8p+4f, 0x1.fdfabap-3f, 0x1.82750ep-1f, 0x1.3fd9a4p+0f, 0x1.c03e78p+0f},
    {
        {0x1.ec1448p-65f, 0x1.f85d32p-65f, 0x1.fd32bcp-65f, 0x1.fef37ap-65f, 0x1.ffc4dep-65f, 0x1.fff7ccp-65f, 0x1.fffee8p-65f, 0x1.ffffdap-65f, 0x1.fffffep-65f, 0x1p-64f, 0x1p-64f, 0x1p-64f, 0x1.7a8b8ap-65f, 0x1.a3ac96p-65f, 0x1.c22e42p-65f, 0x1.d81c96p-65f},
        {0x1.2e68dep-69f, 0x1.df07fcp-71f, 0x1.640556p-72f, 0x1.0bca5ep-73f, 0x1.d8c99ap-76f, 0x1.067b26p-78f, 0x1.17ff4p-81f, 0x1.300148p-84f, 0x1.f70e8ep-89f, 0x1.10168ap-94f, 0x1.3ef11cp-100f, 0x1.75dd28p-106f, 0x1.6b5716p-67f, 0x1.1d994ep-67f, 0x1.a20a58p-68f, 0x1.1ecd66p-68f},
        {-0x1.0fa2acp-70f, -0x1.cc1f04p-72f, -0x1.5ed708p-73f, -0x1.0a544p-74f, -0x1.d83948p-77f, -0x1.0672acp-79f, -0x1.17fa72p-82f, -0x1.302bfep-85f, -0x1.a9f0c4p-90f, -0x1.437396p-92f, -0x1.7b267p-98f, -0x1.bc70acp-104f, -0x1.199bcp-69f, -0x1.3fc334p-69f, -0x1.233a18p-69f, -0x1.caf4p-70f},
        {0x1.1f2e8ep-72f, 0x1.1a63aap-73f, 0x1.c62308p-75f, 0x1.5f3678p-76f, 0x1.39bf44p-78f, 0x1.5d87d6p-81f, 0x1.7507c2p-84f, 0x1.953566p-87f, 0x1.4e1874p-91f, 0x1.6c9594p-97f, 0x1.ab5db4p-103f, 0x1.f4f576p-109f, -0x1.a1e7cep-72f, 0x1.d7169ap-79f, 0x1.0ff6e6p-72f, 0x1.657dc2p-72f},
        {-0x1.38f23ap-75f, -0x1.d828bcp-76f, -0x1.ab521ep-77f, -0x1.578326p-78f, -0x1.38220cp-80f, -0x1.5d2b4ap-83f, -0x1.7553ccp-86f, -0x1.8efa58p-89f, -0x1.6f2f5ep-92f, 0x1.6c15c8p-93f, 0x1.aac7e6p-99f, 0x1.f445dcp-105f, 0x1.b05dfap-73f, 0x1.6c8cfap-73f, 0x1.59a9dap-74f, 0x1.62d806p-78f},
        {-0x1.7b146p-79f, 0x1.d90ffep-79f, 0x1.2cc2c2p-79f, 0x1.088052p-80f, 0x1.0160e2p-82f, 0x1.21d2eap-85f, 0x1.35c1p-88f, 0x1.4d78fep-91f, 0x1.2774f8p-95f, 0x1.3230e2p-101f, 0x1.66ead2p-107f, 0x1.a4b92p-113f, 0x1.579164p-77f, -0x1.01d0aep-75f, -0x1.381f5cp-75f, -0x1.7c062ep-76f},
        {0x1.6edd4ep-79f, 0x1.5e935p-86f, -0x1.265908p-82f, -0x1.3eeb9ap-83f, -0x1.52c2f2p-85f, -0x1.8082bcp-88f, -0x1.97a2cep-91f, -0x1.1972cap-93f, 0x1.a6c1c6p-96f, -0x1.daf35ap-96f, -0x1.165e66p-101f, -0x1.464ddap-107f, -0x1.24dfa2p-76f, -0x1.348004p-77f, 0x1.686c74p-79f, 0x1.5ae4bap-78f},
    }};
// clang-format on

// (exp(-r) - 1) / r for |r| <= ln 2 / 2.
inline constexpr float kExponential[6] = {-1.0f,          0x1.fffffcp-2f,  -0x1.555490p-3f,
                                          0x1.5558f4p-5f, -0x1.123a36p-7f, 0x1.6a23a4p-10f};

/// exp(-v) = power * 2^-64 * (1 + p).
template <class S>
struct NegativeExponential {
  using F = typename S::Floats;
  F power, p;

  /// For v = (high + low) * unit, which is at most 114.
  template <bool kHalf, bool kHasLow>
  static PDL_INLINE NegativeExponential Of(const F& high, const F& low) {
    constexpr float kUnit = kHalf ? 0.5f : 1.0f;
    constexpr float kLn2High = 0x1.62e430p-1f / kUnit, kLn2Low = -0x1.05c610p-29f / kUnit;
    // The low bits hold n + 64 + 127: shifted into the exponent they are 2^(n + 64).
    const auto magic = S::Set(0x1.8p23f + 191.0f);
    const F shifted = S::Fma(high, S::Set(-0x1.715476p+0f * kUnit), magic);
    const F n = S::Sub(shifted, magic);
    F r = S::Fma(n, S::Set(kLn2High), high);
    if constexpr (kHasLow) {
      r = S::Add(r, S::Fma(n, S::Set(kLn2Low), low));
    } else {
      r = S::Fma(n, S::Set(kLn2Low), r);
    }
    F p = S::Fma(S::Set(Coefficient<kHalf>(5)), r, S::Set(Coefficient<kHalf>(4)));
    for (int i = 3; i >= 0; --i) p = S::Fma(p, r, S::Set(Coefficient<kHalf>(i)));
    return {S::template ShiftLeft<23>(shifted), S::Mul(p, r)};
  }

 private:
  template <bool kHalf>
  static constexpr float Coefficient(int i) {
    float c = kExponential[i];
    for (int k = 0; kHalf && k <= i; ++k) c *= 0.5f;
    return c;
  }
};

/// Evaluates the tail of a formula; a loop keeps its table in registers.
template <class S>
class Tail {
 public:
  using F = typename S::Floats;

  explicit PDL_INLINE Tail(const TailTable& table) : centers_(S::LoadTable(table.centers)) {
    for (int i = 0; i < 7; ++i) coefficients_[i] = S::LoadTable(table.coefficients[i]);
  }

  /// ramp plus or minus m * exp(-v) * R(t), where v = (high + low) * unit is at most 114, and
  /// `position` is the number in [1, 16) that selects the interval of t.
  template <bool kMinus, bool kHalf, bool kHasLow, class M>
  PDL_INLINE F Add(const F& ramp, const M& m, const F& high, const F& low, const F& t,
                   const F& position) const {
    const auto [power, p] = NegativeExponential<S>::template Of<kHalf, kHasLow>(high, low);
    // R = base + u, and R * (1 + p) = base + rest.
    const auto index = S::template ShiftRight<21>(position);
    const F d = S::Sub(t, S::LookUp(centers_, index));
    const F base = S::LookUp(coefficients_[0], index);
    F u = S::Fma(S::LookUp(coefficients_[6], index), d, S::LookUp(coefficients_[5], index));
    for (int i = 4; i >= 1; --i) u = S::Fma(u, d, S::LookUp(coefficients_[i], index));
    u = S::Mul(u, d);
    const F rest = S::Fma(S::Add(base, u), p, u);
    // Only these two sums round: multiplying by a power of two is exact.
    const F scaled = S::Mul(m, power);
    if constexpr (!kMinus) return S::Fma(scaled, base, S::Fma(scaled, rest, ramp));
    return S::Fnma(scaled, base, S::Fnma(scaled, rest, ramp));
  }

 private:
  typename S::Table centers_;
  typename S::Table coefficients_[7];
};

}  // namespace detail

/// x times the cumulative standard normal distribution at x.
template <class S>
struct Gelu {
  using F = typename S::Floats;

  PDL_INLINE F operator()(const F& x) const {
    const F t = S::Min(S::Set(14.5f), S::Abs(x));
    const F square = S::Mul(t, t);
    const auto [power, p] =
        detail::NegativeExponential<S>::template Of<true, true>(square, S::Fms(t, t, square));
    // 1 / (t + 4) is the sum of two floats.
    const F sum = S::Add(t, S::Set(4.0f));
    const F inverse = S::Div(S::Set(1.0f), sum);
    const F lost = S::Sub(t, S::Sub(sum, S::Set(4.0f)));
    const F rest = S::Mul(inverse, S::Fnma(lost, inverse, S::Fnma(sum, inverse, S::Set(1.0f))));
    // (t - 4) / (t + 4)
    const F w = S::Fnma(rest, S::Set(8.0f), S::Fnma(inverse, S::Set(8.0f), S::Set(1.0f)));
    // (t + 4) * exp(t^2 / 2) times the tail of the standard normal distribution beyond t, times
    // 2^-64: a minimax fit (Lawson).
    F r = S::Fma(w, S::Set(-0x1.df8c34p-78f), S::Set(0x1.c0739cp-77f));
    for (const float c : {0x1.9c1a72p-74f, -0x1.cfbb46p-73f, -0x1.ed904cp-72f, 0x1.eee1b0p-69f,
                          -0x1.7dff66p-67f, 0x1.8c6d76p-66f, -0x1.373e3ap-65f, 0x1.82b4bcp-65f})
      r = S::Fma(r, w, S::Set(c));
    r = S::Fma(r, inverse, S::Mul(r, rest));
    const F ramp = S::Max(S::Set(-0.0f), x);
    const F y = S::Fnma(S::Mul(t, power), S::Fma(r, p, r), ramp);
    // The exact result is at most the ramp; where both are 0, the ramp has the sign of x.
    return S::Min(y, ramp);
  }
};

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
template <class S>
struct ApproximateGelu {
  using F = typename S::Floats;
  detail::Tail<S> tail{detail::kApproximateGeluTable};

  PDL_INLINE F operator()(const F& x) const {
    // v = t * (sqrt(8 / pi) + cubic * t^2); w - kLinearHigh is exact.
    constexpr float kLinearHigh = 0x1.9884p+0f, kLinearLow = 0x1.4cf50ep-18f;
    constexpr float kCubic = 0x1.2444f2p-4f, kCubicLow = 0x1.49b16ap-29f;
    const F t = S::Min(S::Set(11.0f), S::Abs(x));
    const F square = S::Mul(t, t);
    const F square_low = S::Fms(t, t, square);
    const F w = S::Fma(square, S::Set(kCubic), S::Set(kLinearHigh));
    const F lost = S::Fms(square, S::Set(kCubic), S::Sub(w, S::Set(kLinearHigh)));
    const F rest =
        S::Fma(square_low, S::Set(kCubic), S::Fma(square, S::Set(kCubicLow), S::Set(kLinearLow)));
    const F v = S::Mul(t, w);
    const F v_low = S::Fma(t, S::Add(lost, rest), S::Fms(t, w, v));
    const F position = S::Add(t, S::Set(1.0f));
    return tail.template Add<true, false, true>(S::Max(S::Set(-0.0f), x), t, v, v_low, t, position);
  }
};

namespace detail {

/// The index into a table with intervals twice as wide: t is |x| up to `most`, `near` is t up to 29
/// (from where R is 1 to the last bit), and `position` selects its interval.
template <class S>
struct WideSteps {
  using F = typename S::Floats;
  PDL_INLINE WideSteps(const F& x, float most)
      : t(S::Min(S::Set(most), S::Abs(x))),
        near(S::Min(S::Set(29.0f), t)),
        position(S::Fma(near, S::Set(0.5f), S::Set(1.0f))) {}
  F t, near, position;
};

}  // namespace detail

/// log(1 + exp(x)).
template <class S>
struct Softplus {
  using F = typename S::Floats;
  detail::Tail<S> tail{detail::kSoftplusTable};

  PDL_INLINE F operator()(const F& x) const {
    const detail::WideSteps<S> at(x, 105.0f);
    return tail.template Add<false, false, false>(S::Max(S::Set(0.0f), x), S::Set(1.0f), at.t, at.t,
                                                  at.near, at.position);
  }
};

/// log(1 / (1 + exp(-x))).
template <class S>
struct LogSigmoid {
  using F = typename S::Floats;
  Softplus<S> softplus;

  PDL_INLINE F operator()(const F& x) const { return S::Neg(softplus(S::Neg(x))); }
};

}  // namespace pdl::simd

#endif  // PDL_KERNELS_ELEMENTWISE_TAIL_MATH_H_
