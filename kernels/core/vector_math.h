// Elementary functions that a compiler can vectorize.
//
// The float forms are free of branches, calls and fused multiply-adds, so loops over them vectorize
// on every instruction set and give the same bits on each. They stay within 2.5 ULP of the exact
// value over all floats, denormals included, and treat NaN, infinities and signed zeros as C (and
// NumPy) do. The double forms are those of the C library.
//
// The polynomials are minimax fits (Remez) of the function in the comment next to them.
#ifndef PDL_KERNELS_CORE_VECTOR_MATH_H_
#define PDL_KERNELS_CORE_VECTOR_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#ifdef __CUDACC__
#define PDL_INLINE __host__ __device__ __forceinline__
#else
#define PDL_INLINE inline __attribute__((always_inline))
#endif

namespace pdl::math {

namespace detail {

PDL_INLINE uint32_t Bits(float x) { return __builtin_bit_cast(uint32_t, x); }
PDL_INLINE uint64_t Bits(double x) { return __builtin_bit_cast(uint64_t, x); }
PDL_INLINE float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }
PDL_INLINE double DoubleOf(uint64_t bits) { return __builtin_bit_cast(double, bits); }

inline constexpr uint32_t kSignBit = 0x8000'0000u;
// Adding this to a small number and subtracting it rounds the number to an integer, which is also
// in the low bits of the sum.
inline constexpr float kRound = 0x1.8p23f;
inline constexpr double kRoundDouble = 0x1.8p52;

// 2^n for n in [-126, 127].
PDL_INLINE float PowerOfTwo(int32_t n) { return FloatOf(static_cast<uint32_t>(n + 127) << 23); }

// Evaluates the polynomial with these coefficients, highest power first, at x.
template <class T, class... Rest>
PDL_INLINE T Horner(T x, T first, Rest... rest) {
  ((first = first * x + rest), ...);
  return first;
}

// x in [low, high]; NaN stays.
PDL_INLINE float Clamp(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// x = n * ln 2 + r with |r| <= ln 2 / 2 and exp(r) = 1 + tail; |x| below 120.
struct ExpParts {
  int32_t n;
  float tail;
};
PDL_INLINE ExpParts SplitExp(float x) {
  constexpr float kInverseLn2 = 0x1.715476p+0f;
  constexpr float kLn2High = 0x1.62e4p-1f;  // 15 bits: n * kLn2High is exact
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  const float shifted = x * kInverseLn2 + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  // (exp(r) - 1 - r) / r^2
  const float p = Horner(r, 0x1.6dbc6ep-10f, 0x1.124148p-7f, 0x1.555454p-5f, 0x1.555486p-3f, 0.5f);
  return {static_cast<int32_t>(Bits(shifted) - Bits(kRound)), r * r * p + r};
}

}  // namespace detail

PDL_INLINE float Abs(float x) { return detail::FloatOf(detail::Bits(x) & ~detail::kSignBit); }
PDL_INLINE double Abs(double x) { return std::fabs(x); }

PDL_INLINE float CopySign(float magnitude, float sign) {
  return detail::FloatOf((detail::Bits(magnitude) & ~detail::kSignBit) |
                         (detail::Bits(sign) & detail::kSignBit));
}
PDL_INLINE double CopySign(double magnitude, double sign) { return std::copysign(magnitude, sign); }

PDL_INLINE float Sqrt(float x) { return std::sqrt(x); }
PDL_INLINE double Sqrt(double x) { return std::sqrt(x); }

PDL_INLINE float Exp(float x) {
  const auto [n, tail] = detail::SplitExp(detail::Clamp(x, -105.0f, 90.0f));
  // Two factors, because 2^n may be outside the range of normal floats. Only the last
  // multiplication rounds.
  const int32_t half = n >> 1;
  return (1.0f + tail) * detail::PowerOfTwo(half) * detail::PowerOfTwo(n - half);
}
PDL_INLINE double Exp(double x) { return std::exp(x); }

/// exp(x) - 1, with small relative error also for small x.
PDL_INLINE float Expm1(float x) {
  const auto [n, tail] = detail::SplitExp(detail::Clamp(x, -30.0f, 89.0f));
  // 2^n * tail + (2^n - 1), computed halved because n may be 128.
  const float half_scale = detail::PowerOfTwo(n - 1);
  const float y = (half_scale * tail + (half_scale - 0.5f)) * 2.0f;
  return x == 0.0f ? x : y;
}
PDL_INLINE double Expm1(double x) { return std::expm1(x); }

PDL_INLINE float Log(float x) {
  using detail::Bits;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLn2High = 0x1.62e4p-1f;
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  const bool denormal = x < 0x1p-126f;
  const float scaled = denormal ? x * 0x1p23f : x;
  // x = 2^n * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
  const uint32_t from_root = Bits(scaled) - Bits(0x1.6a09e6p-1f);
  const int32_t n = (static_cast<int32_t>(from_root) >> 23) - (denormal ? 23 : 0);
  const float f = detail::FloatOf((from_root & 0x007f'ffffu) + Bits(0x1.6a09e6p-1f)) - 1.0f;
  // (log(1 + f) - f + f^2 / 2) / f^3
  const float p = detail::Horner(f, 0x1.1b4f04p-4f, -0x1.e2fcd2p-4f, 0x1.e6554cp-4f,
                                 -0x1.fb4070p-4f, 0x1.23324ap-3f, -0x1.5562f2p-3f, 0x1.99a54cp-3f,
                                 -0x1.ffffeep-3f, 0x1.555546p-2f);
  const float square = f * f;
  const float exponent = static_cast<float>(n);
  const float low = (f * square * p + exponent * kLn2Low) - 0.5f * square;
  float y = (f + low) + exponent * kLn2High;
  y = x == kInfinity ? x : y;
  y = x == 0.0f ? -kInfinity : y;
  return x >= 0.0f ? y : std::numeric_limits<float>::quiet_NaN();
}
PDL_INLINE double Log(double x) { return std::log(x); }

namespace detail {

// sin(r) and cos(r) for |r| <= pi / 4, selected and signed by the quadrant.
PDL_INLINE float SinOfQuadrant(float r, uint32_t quadrant) {
  const float z = r * r;
  // (sin(r) - r) / r^3
  float s = -0x1.994b40p-13f;
  s = s * z + 0x1.110756p-7f;
  s = s * z + -0x1.555546p-3f;
  s = s * z * r + r;
  // (cos(r) - 1 + r^2 / 2) / r^4
  float c = 0x1.99ff40p-16f;
  c = c * z + -0x1.6c0c82p-10f;
  c = c * z + 0x1.55554ap-5f;
  const float sum = 1.0f - 0.5f * z;
  c = sum + (c * z * z + ((1.0f - sum) - 0.5f * z));
  const float y = (quadrant & 1) != 0 ? c : s;
  return FloatOf(Bits(y) ^ ((quadrant & 2) << 30));
}

// x = n * pi / 2 + r, for |x| <= kMaxReducible.
struct WideReduced {
  double r;
  uint32_t quadrant;
};
PDL_INLINE WideReduced ReduceByHalfPiWide(float x) {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  constexpr double kHalfPiHigh = 0x1.921fb544p+0;  // 33 bits: n * kHalfPiHigh is exact
  constexpr double kHalfPiLow = 0x1.0b4611a626331p-34;
  const double wide = static_cast<double>(x);
  const double shifted = wide * kTwoOverPi + kRoundDouble;
  const double n = shifted - kRoundDouble;
  const double r = (wide - n * kHalfPiHigh) - n * kHalfPiLow;
  return {r, static_cast<uint32_t>(Bits(shifted))};
}

// The same; `r` is correct to the last bit of a float.
struct Reduced {
  float r;
  uint32_t quadrant;
};
PDL_INLINE Reduced ReduceByHalfPi(float x) {
  const auto [r, quadrant] = ReduceByHalfPiWide(x);
  return {static_cast<float>(r), quadrant};
}

}  // namespace detail

/// The forms for small arguments are valid for |x| <= kMaxReducible and NaN. A loop uses them for
/// all elements if none is larger, and checks each element otherwise.
inline constexpr float kMaxReducible = 0x1p20f;

PDL_INLINE bool IsReducible(float x) { return !(Abs(x) > kMaxReducible); }
PDL_INLINE bool IsReducible(double) { return true; }

PDL_INLINE float SinReducible(float x) {
  const auto [r, quadrant] = detail::ReduceByHalfPi(x);
  return x == 0.0f ? x : detail::SinOfQuadrant(r, quadrant);
}
PDL_INLINE float CosReducible(float x) {
  const auto [r, quadrant] = detail::ReduceByHalfPi(x);
  return detail::SinOfQuadrant(r, quadrant + 1);
}
PDL_INLINE double SinReducible(double x) { return std::sin(x); }
PDL_INLINE double CosReducible(double x) { return std::cos(x); }

PDL_INLINE float Sin(float x) {
  return IsReducible(x) ? SinReducible(x) : static_cast<float>(std::sin(static_cast<double>(x)));
}
PDL_INLINE float Cos(float x) {
  return IsReducible(x) ? CosReducible(x) : static_cast<float>(std::cos(static_cast<double>(x)));
}
PDL_INLINE double Sin(double x) { return std::sin(x); }
PDL_INLINE double Cos(double x) { return std::cos(x); }

PDL_INLINE float Tanh(float x) {
  const float magnitude = Abs(x);
  const float z = x * x;
  // (tanh(x) - x) / x^3 for |x| <= 0.625
  const float p = detail::Horner(z, -0x1.762d70p-8f, 0x1.523bc6p-6f, -0x1.b8405ap-5f,
                                 0x1.11074cp-3f, -0x1.555534p-2f);
  const float small = x * z * p + x;
  // Elsewhere 1 - 2 / (exp(2 |x|) + 1), which rounds to 1 from 10 on.
  const auto [n, tail] = detail::SplitExp(magnitude > 10.0f ? 20.0f : 2.0f * magnitude);
  const float scale = detail::PowerOfTwo(n);
  const float large = 1.0f - 2.0f / (scale * tail + scale + 1.0f);
  return CopySign(magnitude <= 0.625f ? small : large, x);
}
PDL_INLINE double Tanh(double x) { return std::tanh(x); }

/// 1 / (1 + exp(-x)); that of floats is in logistic_math.h.
PDL_INLINE double Sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

PDL_INLINE float Floor(float x) { return std::floor(x); }
PDL_INLINE double Floor(double x) { return std::floor(x); }
PDL_INLINE float Trunc(float x) { return std::trunc(x); }
PDL_INLINE double Trunc(double x) { return std::trunc(x); }
PDL_INLINE float Ceil(float x) { return std::ceil(x); }
PDL_INLINE double Ceil(double x) { return std::ceil(x); }
/// Rounds to the nearest integer, ties to even.
PDL_INLINE float Round(float x) { return std::rint(x); }
PDL_INLINE double Round(double x) { return std::rint(x); }

namespace detail {

// 1 - erf(x) = m * 2^n for x in [0, 10].
struct ErfTail {
  int32_t n;
  float m;
};
PDL_INLINE ErfTail SplitErfTail(float x) {
  // exp(-x^2), corrected by the rounding error of the square: the square of `high` is exact.
  const float high = FloatOf(Bits(x) & 0xffff'f000u);
  const float square = -high * high;
  const float rest = -(x - high) * (x + high);
  const float exponent = square + rest;
  const float lost = (square - exponent) + rest;
  const auto [n, tail] = SplitExp(exponent);
  const float e = 1.0f + (tail + (lost + lost * tail));
  // (t + 4) times the tail of the standard normal distribution beyond t / exp(-t^2 / 2), where t^2
  // = 2 * x^2
  const float t = 0x1.6a09e6p+0f * x;
  const float inverse = 1.0f / (t + 4.0f);
  const float w = (t - 4.0f) * inverse;
  const float p = Horner(w, -0x1.01ea14p-13f, 0x1.988772p-13f, 0x1.9b62dcp-10f, -0x1.cdd786p-9f,
                         -0x1.ed4daep-8f, 0x1.eed98cp-5f, -0x1.7dffc6p-3f, 0x1.8c6d8ep-2f,
                         -0x1.373e3ap-1f, 0x1.82b4bcp-1f);
  return {n + 1, p * inverse * e};
}

}  // namespace detail

/// The error function.
PDL_INLINE float Erf(float x) {
  const float magnitude = Abs(x);
  const float z = x * x;
  // erf(x) / x - 1 for |x| <= 1
  const float p = detail::Horner(z, 0x1.496a28p-14f, -0x1.a3f6fcp-11f, 0x1.5405b2p-8f,
                                 -0x1.b7f90cp-6f, 0x1.ce2cf8p-4f, -0x1.81273ep-2f, 0x1.06eba8p-3f);
  const float small = x * p + x;
  // 1 from 4 on.
  const auto [n, m] = detail::SplitErfTail(magnitude > 4.0f ? 4.0f : magnitude);
  const float large = 1.0f - m * detail::PowerOfTwo(n);
  return CopySign(magnitude <= 1.0f ? small : large, x);
}
PDL_INLINE double Erf(double x) { return std::erf(x); }

/// log(1 + x).
PDL_INLINE float Log1p(float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float sum = 1.0f + x;
  // The logarithm of the rounded sum, plus a correction for the rounding of the sum.
  const float rounded = sum - 1.0f;
  const float y = Log(sum) * (x / (rounded == 0.0f ? 1.0f : rounded));
  return rounded == 0.0f || x == kInfinity ? x : y;
}
PDL_INLINE double Log1p(double x) { return std::log1p(x); }

}  // namespace pdl::math

#endif  // PDL_KERNELS_CORE_VECTOR_MATH_H_
