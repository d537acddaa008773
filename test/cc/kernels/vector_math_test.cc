#include "kernels/core/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "kernels/core/half.h"
#include "kernels/core/tile_dispatch.h"
#include "kernels/core/wide_math.h"
#include "kernels/elementwise/logistic_math.h"
#include "kernels/elementwise/tail_math.h"

namespace pdl {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr Isa kIsas[] = {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512};

float FromBits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
uint32_t ToBits(float x) { return __builtin_bit_cast(uint32_t, x); }

// |actual - expected| in ULP at `expected`.
double UlpError(float actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0.0 : kInf;
  const double rounded = static_cast<double>(static_cast<float>(expected));
  if (std::isinf(rounded) || std::isinf(actual)) {
    // Just below overflow, the largest finite float counts as adjacent to infinity.
    if (static_cast<double>(actual) == rounded) return 0.0;
    const bool near = std::fabs(expected) < 0x1.000004p128 && std::fabs(expected) > 0x1.fffffcp127;
    return near && std::signbit(actual) == std::signbit(expected) ? 1.0 : kInf;
  }
  int exponent = 0;
  std::frexp(expected, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent, -125) - 24);
  return std::fabs(static_cast<double>(actual) - expected) / ulp;
}

struct Sine {
  template <class T>
  T operator()(T x) const {
    return math::SinReducible(x);
  }
  bool IsCommon(float x) const { return math::IsReducible(x); }
  float Rare(float x) const { return math::Sin(x); }
};
struct Cosine {
  template <class T>
  T operator()(T x) const {
    return math::CosReducible(x);
  }
  bool IsCommon(float x) const { return math::IsReducible(x); }
  float Rare(float x) const { return math::Cos(x); }
};
struct Tangent {
  template <class T>
  T operator()(T x) const {
    return math::TanReducible(x);
  }
  bool IsCommon(float x) const { return math::IsReducible(x); }
  float Rare(float x) const { return math::Tan(x); }
};
#define PDL_TEST_FUNCTOR(Name) \
  struct Name {                \
    template <class T>         \
    T operator()(T x) const {  \
      return math::Name(x);    \
    }                          \
  }
PDL_TEST_FUNCTOR(Exp);
PDL_TEST_FUNCTOR(Expm1);
PDL_TEST_FUNCTOR(Log);
PDL_TEST_FUNCTOR(Tanh);
PDL_TEST_FUNCTOR(Sqrt);
PDL_TEST_FUNCTOR(Erf);
PDL_TEST_FUNCTOR(Round);
PDL_TEST_FUNCTOR(Asin);
PDL_TEST_FUNCTOR(Acos);
PDL_TEST_FUNCTOR(Atan);
PDL_TEST_FUNCTOR(Sinh);
PDL_TEST_FUNCTOR(Cosh);
PDL_TEST_FUNCTOR(Asinh);
PDL_TEST_FUNCTOR(Acosh);
PDL_TEST_FUNCTOR(Atanh);
PDL_TEST_FUNCTOR(Exp2);
PDL_TEST_FUNCTOR(Log2);
PDL_TEST_FUNCTOR(Log10);
PDL_TEST_FUNCTOR(Log1p);
PDL_TEST_FUNCTOR(Log1pWide);
PDL_TEST_FUNCTOR(Cbrt);
PDL_TEST_FUNCTOR(Erfc);
PDL_TEST_FUNCTOR(Mish);
PDL_TEST_FUNCTOR(Trunc);
#undef PDL_TEST_FUNCTOR

struct Pow {
  template <class T>
  T operator()(T x, T y) const {
    return math::Pow(x, y);
  }
};

// PDL_TEST_STRIDE=1 tests all floats (takes minutes).
uint32_t Stride() {
  const char* text = std::getenv("PDL_TEST_STRIDE");
  return text == nullptr ? 9973 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

// Every `stride`th float, in runs, with the loops of all supported instruction sets.
template <class F>
void CheckUnary(const char* name, double (*reference)(double), double limit) {
  constexpr int kRun = 1021;
  const F f;
  std::vector<float> in(kRun), out(kRun), first(kRun);
  double worst = 0;
  float worst_at = 0;
  for (uint64_t begin = 0; begin < (uint64_t{1} << 32); begin += uint64_t{kRun} * Stride()) {
    for (int i = 0; i < kRun; ++i) {
      in[i] = FromBits(static_cast<uint32_t>(begin + static_cast<uint64_t>(i) * Stride()));
    }
    const void* inputs[] = {in.data()};
    for (const Isa isa : kIsas) {
      if (isa > CurrentIsa()) continue;
      const Tile tile = MakeUnaryTile<float, float>(&f, isa);
      tile.dense(inputs, out.data(), kRun, tile.parameters);
      if (isa == Isa::kBaseline) first = out;
      for (int i = 0; i < kRun; ++i) {
        // The sign of NaN may differ.
        if (std::isnan(out[i]) && std::isnan(first[i])) continue;
        ASSERT_EQ(ToBits(out[i]), ToBits(first[i]))
            << name << " of " << in[i] << " with " << IsaName(isa);
      }
    }
    for (int i = 0; i < kRun; ++i) {
      const double error = UlpError(first[i], reference(static_cast<double>(in[i])));
      if (error > worst) {
        worst = error;
        worst_at = in[i];
      }
    }
  }
  ::testing::Test::RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LE(worst, limit) << name << " at " << worst_at << " is " << f(worst_at) << " instead of "
                          << reference(worst_at);
}

double ReferenceSigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

TEST(VectorMath, ExpIsAccurate) { CheckUnary<Exp>("exp", std::exp, 1.1); }
TEST(VectorMath, Expm1IsAccurate) { CheckUnary<Expm1>("expm1", std::expm1, 2); }
TEST(VectorMath, LogIsAccurate) { CheckUnary<Log>("log", std::log, 1); }
TEST(VectorMath, SinIsAccurate) { CheckUnary<Sine>("sin", std::sin, 1.6); }
TEST(VectorMath, CosIsAccurate) { CheckUnary<Cosine>("cos", std::cos, 1.6); }
TEST(VectorMath, TanhIsAccurate) { CheckUnary<Tanh>("tanh", std::tanh, 2); }
double ReferenceGelu(double x) { return x < -40 ? -0.0 : 0.5 * x * std::erfc(-x * M_SQRT1_2); }
double ReferenceApproximateGelu(double x) {
  const double v = std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x);
  return v < -700 ? -0.0 : x / (1.0 + std::exp(-v));
}
double ReferenceSilu(double x) { return x < -700 ? -0.0 : x / (1.0 + std::exp(-x)); }
double ReferenceSoftplus(double x) {
  return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
double ReferenceLogSigmoid(double x) { return -ReferenceSoftplus(-x); }

// A formula of simd.h, and its name in messages.
template <template <class S> class Formula>
struct Simd : SimdFunctor<Formula> {
  float operator()(float x) const { return Formula<simd::Portable>()(x); }
};

TEST(VectorMath, ErfIsAccurate) { CheckUnary<Erf>("erf", std::erf, 1.4); }
TEST(VectorMath, GeluIsAccurate) { CheckUnary<Simd<simd::Gelu>>("gelu", ReferenceGelu, 4); }
TEST(VectorMath, ApproximateGeluIsAccurate) {
  CheckUnary<Simd<simd::ApproximateGelu>>("approximate gelu", ReferenceApproximateGelu, 2);
}
TEST(VectorMath, SigmoidIsAccurate) {
  CheckUnary<Simd<simd::Sigmoid>>("sigmoid", ReferenceSigmoid, 1.8);
}
TEST(VectorMath, SiluIsAccurate) { CheckUnary<Simd<simd::Silu>>("silu", ReferenceSilu, 1.9); }
TEST(VectorMath, SoftplusIsAccurate) {
  CheckUnary<Simd<simd::Softplus>>("softplus", ReferenceSoftplus, 2);
}
TEST(VectorMath, LogSigmoidIsAccurate) {
  CheckUnary<Simd<simd::LogSigmoid>>("log_sigmoid", ReferenceLogSigmoid, 2);
}
double ReferenceMish(double x) { return x < -200 ? -0.0 : x * std::tanh(std::log1p(std::exp(x))); }

TEST(VectorMath, TanIsAccurate) { CheckUnary<Tangent>("tan", std::tan, 0.51); }
TEST(VectorMath, AsinIsAccurate) { CheckUnary<Asin>("asin", std::asin, 0.51); }
TEST(VectorMath, AcosIsAccurate) { CheckUnary<Acos>("acos", std::acos, 0.51); }
TEST(VectorMath, AtanIsAccurate) { CheckUnary<Atan>("atan", std::atan, 0.51); }
TEST(VectorMath, SinhIsAccurate) { CheckUnary<Sinh>("sinh", std::sinh, 0.51); }
TEST(VectorMath, CoshIsAccurate) { CheckUnary<Cosh>("cosh", std::cosh, 0.51); }
TEST(VectorMath, AsinhIsAccurate) { CheckUnary<Asinh>("asinh", std::asinh, 0.51); }
TEST(VectorMath, AcoshIsAccurate) { CheckUnary<Acosh>("acosh", std::acosh, 0.51); }
TEST(VectorMath, AtanhIsAccurate) { CheckUnary<Atanh>("atanh", std::atanh, 0.51); }
TEST(VectorMath, Exp2IsAccurate) { CheckUnary<Exp2>("exp2", std::exp2, 0.51); }
TEST(VectorMath, Log2IsAccurate) { CheckUnary<Log2>("log2", std::log2, 0.51); }
TEST(VectorMath, Log10IsAccurate) { CheckUnary<Log10>("log10", std::log10, 0.51); }
TEST(VectorMath, Log1pIsAccurate) { CheckUnary<Log1p>("log1p", std::log1p, 2.5); }
TEST(VectorMath, Log1pWideIsAccurate) { CheckUnary<Log1pWide>("log1p", std::log1p, 0.51); }
TEST(VectorMath, CbrtIsAccurate) { CheckUnary<Cbrt>("cbrt", std::cbrt, 0.51); }
TEST(VectorMath, ErfcIsAccurate) { CheckUnary<Erfc>("erfc", std::erfc, 1); }
TEST(VectorMath, MishIsAccurate) { CheckUnary<Mish>("mish", ReferenceMish, 0.51); }
TEST(VectorMath, TruncIsExact) { CheckUnary<Trunc>("trunc", std::trunc, 0); }
TEST(VectorMath, RoundIsExact) { CheckUnary<Round>("round", std::nearbyint, 0); }
TEST(VectorMath, SqrtIsExact) { CheckUnary<Sqrt>("sqrt", std::sqrt, 0.5); }

TEST(VectorMath, PowIsAccurate) {
  const Pow f;
  constexpr int kRun = 1021;
  std::vector<float> x(kRun), y(kRun), out(kRun);
  uint64_t random = 1;
  double worst = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < kRun; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      x[i] = FromBits(static_cast<uint32_t>(random >> 32));
      random = random * 6364136223846793005u + 1442695040888963407u;
      const uint32_t bits = static_cast<uint32_t>(random >> 32);
      // Small exponents, small integers, and any float.
      y[i] = round % 3 == 0   ? static_cast<float>(bits) * 0x1p-30f - 2.0f
             : round % 3 == 1 ? static_cast<float>(bits % 9) - 4.0f
                              : FromBits(bits);
    }
    const void* inputs[] = {x.data(), y.data()};
    for (const Isa isa : kIsas) {
      if (isa > CurrentIsa()) continue;
      const Tile tile = MakeBinaryTile<float, float>(&f, isa);
      tile.dense(inputs, out.data(), kRun, tile.parameters);
      for (int i = 0; i < kRun; ++i) {
        const double expected = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
        const double error = UlpError(out[i], expected);
        worst = std::max(worst, error);
        ASSERT_LE(error, 1.0) << x[i] << " ** " << y[i] << " is " << out[i] << " instead of "
                              << expected << " with " << IsaName(isa);
      }
    }
  }
  ::testing::Test::RecordProperty("worst_ulp", std::to_string(worst));
}

constexpr float kSpecialValues[] = {0.0f,   -0.0f,     1.0f,       -1.0f,      0.5f,        -0.5f,
                                    2.0f,   -2.0f,     3.0f,       2.5f,       -3.0f,       kInf,
                                    -kInf,  kNan,      1e-45f,     -1e-45f,    16777217.0f, 1e30f,
                                    -1e30f, 0x1p-149f, 8388607.5f, 16777215.0f};

// All pairs of special values: the result of C within one ULP, with its sign.
void CheckSpecialCases(float (*function)(float, float), double (*reference)(double, double)) {
  for (const float x : kSpecialValues) {
    for (const float y : kSpecialValues) {
      const float actual = function(x, y);
      const float expected =
          static_cast<float>(reference(static_cast<double>(x), static_cast<double>(y)));
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(actual)) << x << ", " << y;
      } else {
        EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << x << ", " << y;
        EXPECT_LE(UlpError(actual, expected), 1.0) << x << ", " << y;
      }
    }
  }
}

TEST(VectorMath, PowHasTheSpecialCasesOfC) { CheckSpecialCases(math::Pow, std::pow); }
TEST(VectorMath, Atan2HasTheSpecialCasesOfC) { CheckSpecialCases(math::Atan2, std::atan2); }
TEST(VectorMath, HypotHasTheSpecialCasesOfC) { CheckSpecialCases(math::Hypot, std::hypot); }

TEST(VectorMath, Atan2IsAccurate) {
  uint64_t random = 1;
  for (int i = 0; i < 1000000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const float y = FromBits(static_cast<uint32_t>(random >> 32));
    random = random * 6364136223846793005u + 1442695040888963407u;
    // Of any size, and close to one another.
    const float x = i % 2 == 0 ? FromBits(static_cast<uint32_t>(random >> 32))
                               : y * (static_cast<float>(random >> 40) * 0x1p-23f - 1.0f);
    const double expected = std::atan2(static_cast<double>(y), static_cast<double>(x));
    ASSERT_LE(UlpError(math::Atan2(y, x), expected), 0.51) << y << ", " << x;
  }
}

TEST(VectorMath, LogAddExpIsAccurate) {
  uint64_t random = 1;
  auto next = [&random] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(random >> 32);
  };
  for (int i = 0; i < 1000000; ++i) {
    // Of any size; close to one another; and with a sum close to 0.
    const float x = i % 3 == 0 ? FromBits(next()) : static_cast<float>(next()) * 0x1p-29f - 4.0f;
    float y = i % 3 == 0 ? FromBits(next()) : static_cast<float>(next()) * 0x1p-29f - 4.0f;
    if (i % 3 == 2 && x < 0.0f) y = std::log1p(-std::exp(x));
    const long double a = x, b = y, top = std::max(a, b);
    const long double expected =
        a == b ? a + std::log(2.0L) : top + std::log1p(std::exp(-std::abs(a - b)));
    if (std::isnan(expected)) continue;
    const float actual = math::LogAddExp(x, y);
    // Near 0 large numbers cancel.
    if (std::abs(static_cast<long double>(actual) - expected) < 1e-9L) continue;
    ASSERT_LE(UlpError(actual, static_cast<double>(expected)), 0.51) << x << ", " << y;
  }
}

TEST(VectorMath, SignedZerosStay) {
  EXPECT_EQ(ToBits(math::Sin(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Tanh(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Sqrt(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Expm1(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Log1p(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Log1pWide(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Tan(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Asin(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Atan(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Sinh(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Asinh(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Atanh(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Cbrt(-0.0f)), ToBits(-0.0f));
  EXPECT_EQ(ToBits(math::Trunc(-0.5f)), ToBits(-0.0f));
}

TEST(VectorMath, InfinitiesAndNan) {
  EXPECT_EQ(math::Exp(kInf), kInf);
  EXPECT_EQ(math::Exp(-kInf), 0.0f);
  EXPECT_EQ(math::Log(0.0f), -kInf);
  EXPECT_EQ(math::Log(-0.0f), -kInf);
  EXPECT_EQ(math::Log(kInf), kInf);
  EXPECT_TRUE(std::isnan(math::Log(-1.0f)));
  EXPECT_TRUE(std::isnan(math::Sin(kInf)));
  EXPECT_TRUE(std::isnan(math::Cos(-kInf)));
  EXPECT_EQ(math::Tanh(kInf), 1.0f);
  EXPECT_EQ(math::Tanh(-kInf), -1.0f);
  EXPECT_EQ(simd::Sigmoid<simd::Portable>()(kInf), 1.0f);
  EXPECT_EQ(simd::Sigmoid<simd::Portable>()(-kInf), 0.0f);
  EXPECT_TRUE(std::isnan(math::Exp(kNan)));
  EXPECT_TRUE(std::isnan(math::Tanh(kNan)));
  EXPECT_TRUE(std::isnan(simd::Sigmoid<simd::Portable>()(kNan)));
  const simd::Silu<simd::Portable> silu;
  EXPECT_EQ(silu(kInf), kInf);
  EXPECT_EQ(silu(-kInf), 0.0f);
  EXPECT_TRUE(std::signbit(silu(-kInf)) && std::signbit(silu(-0.0f)));
  EXPECT_EQ(silu(std::numeric_limits<float>::max()), std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isnan(silu(kNan)));
  EXPECT_TRUE(std::isnan(math::Pow(kNan, 2.0f)));
}

TEST(VectorMath, AHugeArgumentChangesNoNeighbour) {
  const Cosine f;
  std::vector<float> in(100, 0.75f), out(100);
  in[40] = 1e30f;
  const Tile tile = MakeUnaryTile<float, float>(&f);
  const void* inputs[] = {in.data()};
  tile.dense(inputs, out.data(), 100, tile.parameters);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(out[i], i == 40 ? static_cast<float>(std::cos(static_cast<double>(in[i])))
                              : math::CosReducible(0.75f));
  }
}

TEST(VectorMath, ScalarFormsAgreeWithTheDenseOne) {
  const Pow f;
  for (const Isa isa : kIsas) {
    if (isa > CurrentIsa()) continue;
    const Tile tile = MakeBinaryTile<float, float>(&f, isa);
    for (const float scalar : {0.0f, 2.0f, -1.5f, kInf, kNan}) {
      std::vector<float> x(37), same(37, scalar), dense(37), form(37);
      for (int i = 0; i < 37; ++i) x[i] = static_cast<float>(i - 10) * 0.5f;
      for (const int side : {0, 1}) {
        const void* repeated[2] = {x.data(), x.data()};
        const void* single[2] = {x.data(), x.data()};
        repeated[side] = same.data();
        single[side] = &scalar;
        tile.dense(repeated, dense.data(), 37, tile.parameters);
        tile.scalar[side](single, form.data(), 37, tile.parameters);
        for (int i = 0; i < 37; ++i) {
          if (std::isnan(dense[i]) && std::isnan(form[i])) continue;
          EXPECT_EQ(ToBits(dense[i]), ToBits(form[i])) << scalar << " on side " << side;
        }
      }
    }
  }
}

TEST(Half, EveryHalfReadsAndWritesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const float value = math::HalfToFloat(half);
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const int mantissa = static_cast<int>(bits & 1023);
    if (exponent == 31) {
      EXPECT_TRUE(mantissa == 0 ? std::isinf(value) : std::isnan(value));
    } else {
      const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                            : std::ldexp(1024.0f + mantissa, exponent - 25);
      EXPECT_EQ(value, bits & 0x8000 ? -magnitude : magnitude);
    }
    if (!std::isnan(value)) {
      EXPECT_EQ(math::FloatToHalf(value), half);
    }
  }
}

TEST(Half, WritingRoundsToTheNearestEven) {
  EXPECT_EQ(math::FloatToHalf(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(math::FloatToHalf(1.0f + 0x3p-11f), 0x3c02);
  EXPECT_EQ(math::FloatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(math::FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(math::FloatToHalf(0x1p-25f), 0x0000);
  EXPECT_EQ(math::FloatToHalf(0x1.8p-25f), 0x0001);
  EXPECT_EQ(math::FloatToHalf(-kInf), 0xfc00);
  EXPECT_TRUE(std::isnan(math::HalfToFloat(math::FloatToHalf(kNan))));
  EXPECT_EQ(math::FloatToBfloat(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(math::FloatToBfloat(1.0f + 0x3p-8f), 0x3f82);
  EXPECT_EQ(math::FloatToBfloat(kInf), 0x7f80);
  EXPECT_TRUE(std::isnan(math::BfloatToFloat(math::FloatToBfloat(FromBits(0x7f800001)))));
}

TEST(CpuIsa, TheEnvironmentNarrowsButNeverWidens) {
  EXPECT_EQ(LimitIsa(Isa::kAvx512, nullptr), Isa::kAvx512);
  EXPECT_EQ(LimitIsa(Isa::kAvx512, "AVX2"), Isa::kAvx2);
  EXPECT_EQ(LimitIsa(Isa::kAvx512, "avx2_vnni"), Isa::kAvx2);
  EXPECT_EQ(LimitIsa(Isa::kAvx512, "SSE41"), Isa::kBaseline);
  EXPECT_EQ(LimitIsa(Isa::kAvx512, "AVX"), Isa::kBaseline);
  EXPECT_EQ(LimitIsa(Isa::kAvx2, "AVX512_CORE"), Isa::kAvx2);
  EXPECT_EQ(LimitIsa(Isa::kBaseline, "AVX2"), Isa::kBaseline);
  EXPECT_EQ(LimitIsa(Isa::kAvx2, "nonsense"), Isa::kAvx2);
}

}  // namespace
}  // namespace pdl
