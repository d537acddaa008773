// Elementary functions of floats that are computed in double, and so are correct to about the last
// bit. Otherwise as in vector_math.h.
#ifndef PDL_KERNELS_CORE_WIDE_MATH_H_
#define PDL_KERNELS_CORE_WIDE_MATH_H_

#include "kernels/core/vector_math.h"

namespace pdl::math {

namespace detail {

inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;

// The logarithm to base 2 of zero, of a normal double, or of infinity. NaN stays NaN; for negative
// numbers the result is meaningless.
PDL_INLINE double Log2Wide(double x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // x = 2^n * m with m in [sqrt(1/2), sqrt(2)).
  constexpr uint64_t kRoot = 0x3fe6'a09e'667f'3bcdu;
  constexpr uint64_t kMantissa = 0x000f'ffff'ffff'ffffu;
  const uint64_t from_root = Bits(x) - kRoot;
  // The biased exponent, placed below 2^52, gives n as a double without a 64-bit conversion.
  const double n = DoubleOf(((from_root + (uint64_t{1024} << 52)) >> 52) | (uint64_t{1075} << 52)) -
                   (0x1p52 + 1024.0);
  const double m = DoubleOf((from_root & kMantissa) + kRoot);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  // log2((1 + s) / (1 - s)) / s
  const double p = Horner(z, 0x1.f1a0293118c7ap-3, 0x1.0bb69de35ac49p-2, 0x1.484fb4f2aa076p-2,
                          0x1.a6175657757e3p-2, 0x1.2776c516c2c09p-1, 0x1.ec709dc39c8f8p-1,
                          0x1.71547652b82ffp+1);
  const double y = x == 0.0 ? -kInfinity : n + s * p;
  return x < kInfinity ? y : x;
}

// 2 to the power of t, for |t| up to 1000.
PDL_INLINE double Exp2Wide(double t) {
  const double shifted = t + kRoundDouble;
  const double f = t - (shifted - kRoundDouble);
  // 2^f
  const double q = Horner(f, 0x1.00f7ce6f9d101p-16, 0x1.446ca1b45066cp-13, 0x1.5d87158129d8bp-10,
                          0x1.3b29d88883f8ep-7, 0x1.c6b08e072243dp-5, 0x1.ebfbe0aa41fc3p-3,
                          0x1.62e42fef6cbc9p-1, 0x1.ffffffffa6e83p-1);
  return q * DoubleOf((Bits(shifted) + 1023) << 52);
}

// x in [low, high]; NaN stays.
PDL_INLINE double Clamp(double x, double low, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// exp(x), correct to float precision for x in [-600, 600] and NaN.
PDL_INLINE double ExpWide(double x) { return Exp2Wide(x * kLog2E); }

// exp(x) - 1, correct to float precision also for small x; x in [-600, 600].
PDL_INLINE double Expm1Wide(double x) {
  // (exp(x) - 1 - x) / x^2 for |x| <= 1/2
  const double p = Horner(x, 0x1.71f2782d00000p-19, 0x1.a2aecb4960000p-16, 0x1.a01c1cd3d9000p-13,
                          0x1.6c14d91bb0200p-10, 0x1.11110f6125430p-7, 0x1.5555565d73334p-5,
                          0x1.55555556a1fcap-3, 0x1.ffffffff6af43p-2);
  return Abs(x) <= 0.5 ? x * x * p + x : ExpWide(x) - 1.0;
}

// asin(s) for s in [0, 1/2]; z is s squared.
PDL_INLINE double AsinOfHalf(double s, double z) {
  const double p = Horner(z, 0x1.e0231588b1e55p-6, 0x1.64b97e009bd03p-8, 0x1.3c5053c2afce1p-6,
                          0x1.6a9e3262c37dbp-6, 0x1.f208eb1ddd0fbp-6, 0x1.6db5cfb6af282p-5,
                          0x1.333334ceb6520p-4, 0x1.55555554ee47bp-3);
  return s * z * p + s;
}

}  // namespace detail

// --- Powers and logarithms ----------------------------------------------------------------------

/// x to the power of y, with the special cases of C's pow.
PDL_INLINE float Pow(float x, float y) {
  using detail::Bits;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double base = static_cast<double>(Abs(x));  // no float is a denormal double
  const double exponent = static_cast<double>(y);
  const double power =
      detail::Exp2Wide(detail::Clamp(exponent * detail::Log2Wide(base), -200.0, 200.0));
  float power_of_abs = static_cast<float>(power);

  // No early exits: a loop in which y is fixed must be free of branches.
  const bool integral = Floor(y) == y;
  const bool odd = integral & (Floor(0.5f * y) != 0.5f * y);
  const uint32_t sign = Bits(x) & (odd ? detail::kSignBit : 0u);
  const bool undefined = (x < 0.0f) & !integral & (base != kInfinity);
  power_of_abs = undefined ? std::numeric_limits<float>::quiet_NaN() : power_of_abs;
  const float result = detail::FloatOf(Bits(power_of_abs) ^ sign);
  // 1 to any power, anything to the power of 0, and -1 to an infinite power.
  const bool one = (x == 1.0f) | (y == 0.0f) | ((base == 1.0) & (Abs(y) == kInfinity));
  return one ? 1.0f : result;
}
PDL_INLINE double Pow(double x, double y) { return std::pow(x, y); }

PDL_INLINE float Exp2(float x) {
  return static_cast<float>(detail::Exp2Wide(detail::Clamp(static_cast<double>(x), -200, 200)));
}
PDL_INLINE double Exp2(double x) { return std::exp2(x); }

PDL_INLINE float Log2(float x) {
  const float y = static_cast<float>(detail::Log2Wide(static_cast<double>(x)));
  return x >= 0.0f ? y : std::numeric_limits<float>::quiet_NaN();
}
PDL_INLINE double Log2(double x) { return std::log2(x); }

PDL_INLINE float Log10(float x) {
  constexpr double kLog10Of2 = 0x1.34413509f79ffp-2;
  const float y = static_cast<float>(detail::Log2Wide(static_cast<double>(x)) * kLog10Of2);
  return x >= 0.0f ? y : std::numeric_limits<float>::quiet_NaN();
}
PDL_INLINE double Log10(double x) { return std::log10(x); }

/// Log1p, correct to the last bit; vector_math.h has a faster, less precise one.
PDL_INLINE float Log1pWide(float x) {
  const double log = detail::Log2Wide(1.0 + static_cast<double>(x)) * detail::kLn2;
  // 1 + x is exact in double where |x| is not tiny.
  const float y = Abs(x) < 0x1p-28f ? x : static_cast<float>(log);
  return x >= -1.0f ? y : std::numeric_limits<float>::quiet_NaN();
}
PDL_INLINE double Log1pWide(double x) { return std::log1p(x); }

/// The cube root.
PDL_INLINE float Cbrt(float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float magnitude = Abs(x);
  const float scaled = magnitude < 0x1p-126f ? magnitude * 0x1p24f : magnitude;
  // A third of the exponent, then two iterations of Halley's method.
  const double a = static_cast<double>(scaled);
  double t = static_cast<double>(detail::FloatOf(detail::Bits(scaled) / 3 + 0x2a51'19f2u));
  double cube = t * t * t;
  t = t * (a + a + cube) / (a + cube + cube);
  cube = t * t * t;
  t = t * (a + a + cube) / (a + cube + cube);
  const bool denormal = static_cast<double>(magnitude) < 0x1p-126;
  const float root = static_cast<float>(denormal ? t * 0x1p-8 : t);
  return (x == 0.0f) | !(magnitude < kInfinity) ? x : CopySign(root, x);
}
PDL_INLINE double Cbrt(double x) { return std::cbrt(x); }

/// scale * (exp(x / divisor) - 1) for x <= 0, rounded once. The result for x > 0 is unspecified.
PDL_INLINE float ScaledExpm1(float x, double scale, double divisor) {
  const double quotient = static_cast<double>(x) / divisor;
  return static_cast<float>(scale * detail::Expm1Wide(detail::Clamp(quotient, -100.0, 100.0)));
}
PDL_INLINE double ScaledExpm1(double x, double scale, double divisor) {
  return scale * std::expm1(x / divisor);
}

// --- Angles -------------------------------------------------------------------------------------

/// tan(x) for IsReducible(x).
PDL_INLINE float TanReducible(float x) {
  const auto [r, quadrant] = detail::ReduceByHalfPiWide(x);
  const double z = r * r;
  // (sin(r) - r) / r^3
  double s = detail::Horner(z, 0x1.6dbcfb4dee452p-19, -0x1.a013a455bd213p-13, 0x1.11110decc73fdp-7,
                            -0x1.555555545d0dap-3);
  s = s * z * r + r;
  const double c =
      detail::Horner(z, -0x1.24740198bcf0bp-22, 0x1.a01295104b6a7p-16, -0x1.6c16bae0eeeadp-10,
                     0x1.555555514b595p-5, -0x1.fffffffffe677p-2, 1.0);
  const bool odd = (quadrant & 1) != 0;
  const double y = (odd ? -c : s) / (odd ? s : c);
  return x == 0.0f ? x : static_cast<float>(y);
}
PDL_INLINE double TanReducible(double x) { return std::tan(x); }
PDL_INLINE float Tan(float x) {
  return IsReducible(x) ? TanReducible(x) : static_cast<float>(std::tan(static_cast<double>(x)));
}

PDL_INLINE float Asin(float x) {
  const double a = static_cast<double>(Abs(x));
  // asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)) for a above 1/2.
  const bool large = a > 0.5;
  const double z = large ? 0.5 - 0.5 * a : a * a;
  const double y = detail::AsinOfHalf(large ? Sqrt(z) : a, z);
  return CopySign(static_cast<float>(large ? detail::kHalfPi - 2.0 * y : y), x);
}
PDL_INLINE double Asin(double x) { return std::asin(x); }

PDL_INLINE float Acos(float x) {
  const double a = static_cast<double>(Abs(x));
  const bool large = a > 0.5;
  const double z = large ? 0.5 - 0.5 * a : a * a;
  const double y = detail::AsinOfHalf(large ? Sqrt(z) : a, z);
  const double of_abs = large ? 2.0 * y : detail::kHalfPi - y;
  const bool below = static_cast<double>(x) < 0.0;
  return static_cast<float>(below ? 2.0 * detail::kHalfPi - of_abs : of_abs);
}
PDL_INLINE double Acos(double x) { return std::acos(x); }

/// The angle of the point (x, y), in [-pi, pi], with the special cases of C's atan2.
PDL_INLINE float Atan2(float y, float x) {
  constexpr double kTanOfEighth = 0x1.a827999fcef32p-2;  // tan(pi / 8)
  const double ay = static_cast<double>(Abs(y)), ax = static_cast<double>(Abs(x));
  const bool steep = ay > ax;
  const double low = steep ? ax : ay, high = steep ? ay : ax;
  // The angle of low / high is pi / 4 plus that of (low - high) / (low + high).
  const bool far = low > kTanOfEighth * high;
  const double upper = far ? low - high : low;
  const double lower = far ? low + high : high;
  const double t = ay == ax ? 0.0 : upper / lower;
  const double z = t * t;
  // (atan(t) - t) / t^3
  const double p = detail::Horner(
      z, -0x1.4b107f787f967p-5, 0x1.2439d1666cb6dp-4, -0x1.71d214eaeb143p-4, 0x1.c6f664c251f89p-4,
      -0x1.2491bfec7eaaap-3, 0x1.9999982386384p-3, -0x1.55555555018d3p-2);
  const bool eighth = far | ((ay == ax) & (ax > 0.0));
  double angle = (t * z * p + t) + (eighth ? 0.5 * detail::kHalfPi : 0.0);
  angle = steep ? detail::kHalfPi - angle : angle;
  angle = (detail::Bits(x) & detail::kSignBit) != 0 ? 2.0 * detail::kHalfPi - angle : angle;
  return CopySign(static_cast<float>(angle), y);
}
PDL_INLINE double Atan2(double y, double x) { return std::atan2(y, x); }

PDL_INLINE float Atan(float x) { return Atan2(x, 1.0f); }
PDL_INLINE double Atan(double x) { return std::atan(x); }

// --- Hyperbolic functions -----------------------------------------------------------------------

PDL_INLINE float Sinh(float x) {
  const double a = static_cast<double>(Abs(x));
  const double z = a * a;
  // (sinh(a) - a) / a^3, for a <= 1
  const double p =
      detail::Horner(z, 0x1.b557c78eb1ae2p-26, 0x1.71d208a299728p-19, 0x1.a01a131097a98p-13,
                     0x1.1111110857b52p-7, 0x1.5555555558201p-3);
  const double e = detail::ExpWide(a > 100.0 ? 100.0 : a);
  const double y = a <= 1.0 ? a * z * p + a : 0.5 * (e - 1.0 / e);
  return CopySign(static_cast<float>(y), x);
}
PDL_INLINE double Sinh(double x) { return std::sinh(x); }

PDL_INLINE float Cosh(float x) {
  const double a = static_cast<double>(Abs(x));
  const double e = detail::ExpWide(a > 100.0 ? 100.0 : a);
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
PDL_INLINE double Cosh(double x) { return std::cosh(x); }

PDL_INLINE float Asinh(float x) {
  const double a = static_cast<double>(Abs(x));
  const double log = detail::Log2Wide(a + Sqrt(a * a + 1.0)) * detail::kLn2;
  const double y = a < 0x1p-10 ? a - a * a * a * (1.0 / 6.0) : log;
  return CopySign(static_cast<float>(y), x);
}
PDL_INLINE double Asinh(double x) { return std::asinh(x); }

PDL_INLINE float Acosh(float x) {
  const double wide = static_cast<double>(x);
  const double above = wide - 1.0;
  const double y = detail::Log2Wide(1.0 + (above + Sqrt(above * (wide + 1.0)))) * detail::kLn2;
  return x >= 1.0f ? static_cast<float>(y) : std::numeric_limits<float>::quiet_NaN();
}
PDL_INLINE double Acosh(double x) { return std::acosh(x); }

PDL_INLINE float Atanh(float x) {
  const double a = static_cast<double>(Abs(x));
  const double log = detail::Log2Wide((1.0 + a) / (1.0 - a)) * (0.5 * detail::kLn2);
  const double y = a < 0x1p-10 ? a + a * a * a * (1.0 / 3.0) : log;
  const float result = CopySign(static_cast<float>(y), x);
  return Abs(x) <= 1.0f ? result : std::numeric_limits<float>::quiet_NaN();
}
PDL_INLINE double Atanh(double x) { return std::atanh(x); }

// --- Others -------------------------------------------------------------------------------------

/// 1 - erf(x), with small relative error also where the result is small.
PDL_INLINE float Erfc(float x) {
  const double a = detail::Clamp(static_cast<double>(Abs(x)), 0.0, 11.0);
  const double t = a * 0x1.6a09e667f3bcdp+0;
  // (t + 4) times the tail of the standard normal distribution beyond t / exp(-t^2 / 2)
  const double inverse = 1.0 / (t + 4.0);
  const double w = (t - 4.0) * inverse;
  const double p = detail::Horner(w, -0x1.01ea14p-13, 0x1.988772p-13, 0x1.9b62dcp-10,
                                  -0x1.cdd786p-9, -0x1.ed4daep-8, 0x1.eed98cp-5, -0x1.7dffc6p-3,
                                  0x1.8c6d8ep-2, -0x1.373e3ap-1, 0x1.82b4bcp-1);
  const double tail = 2.0 * p * inverse * detail::ExpWide(-a * a);
  return static_cast<float>(static_cast<double>(x) < 0.0 ? 2.0 - tail : tail);
}
PDL_INLINE double Erfc(double x) { return std::erfc(x); }

/// sqrt(x^2 + y^2), infinite if x or y is.
PDL_INLINE float Hypot(float x, float y) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const double a = static_cast<double>(x), b = static_cast<double>(y);
  const float length = static_cast<float>(Sqrt(a * a + b * b));
  return (Abs(x) == kInfinity) | (Abs(y) == kInfinity) ? kInfinity : length;
}
PDL_INLINE double Hypot(double x, double y) { return std::hypot(x, y); }

/// log(exp(x) + exp(y)), without overflow.
PDL_INLINE float LogAddExp(float x, float y) {
  const double a = static_cast<double>(x), b = static_cast<double>(y);
  const double top = a < b ? b : a;
  // Infinities of the same sign have no difference.
  const double below = a == b ? 0.0 : (a < b ? a - b : b - a);
  const double e = detail::ExpWide(detail::Clamp(below, -600.0, 0.0));
  // The rounding error of 1 + e is corrected to first order, by the derivative of the logarithm.
  const double sum = 1.0 + e;
  const double log = detail::Log2Wide(sum) * detail::kLn2 + (e - (sum - 1.0)) / sum;
  // With infinities the sum is correct, and NaN in either operand stays NaN.
  return static_cast<float>((x != x) | (y != y) ? a + b : top + log);
}
PDL_INLINE double LogAddExp(double x, double y) {
  if (!(x != y)) return x + detail::kLn2;
  if (!(x == x && y == y)) return x + y;
  return x < y ? y + std::log1p(std::exp(x - y)) : x + std::log1p(std::exp(y - x));
}

namespace detail {

// x * tanh(log(1 + e)), where e is exp(min(x, 40)).
PDL_INLINE double MishOf(double x, double e) {
  const double n = e * (e + 2.0);
  return x * (n / (n + 2.0));
}

}  // namespace detail

/// x * tanh(log(1 + exp(x))); -0 at negative infinity.
PDL_INLINE float Mish(float x) {
  const double bounded = static_cast<double>(x < -150.0f ? -150.0f : x);
  return static_cast<float>(
      detail::MishOf(bounded, detail::ExpWide(bounded > 40.0 ? 40.0 : bounded)));
}
PDL_INLINE double Mish(double x) {
  const double bounded = x < -800.0 ? -800.0 : x;
  return detail::MishOf(bounded, std::exp(bounded > 40.0 ? 40.0 : bounded));
}

}  // namespace pdl::math

#endif  // PDL_KERNELS_CORE_WIDE_MATH_H_
