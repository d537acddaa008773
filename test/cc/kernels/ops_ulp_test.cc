// The declared maximum errors of operators (SetMaxUlp), measured in f32.
//
// PDL_ULP_STRIDE=17 tests every 17th f32, which takes minutes; the default, every 20011th, suffices
// to notice a change.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

using Function = double (*)(double);

double LogSigmoid(double x) {
  return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}
double Sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double Softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double Selu(double x) {
  return 1.0507009873554804934193349852946 *
         (x > 0 ? x : 1.6732632423543772848170429916717 * std::expm1(x));
}
// Where the formulas below give 0 * inf.
double AtMinusInf(double x, double value) { return x == -HUGE_VAL ? -0.0 : value; }

const std::map<std::string, Function>& References() {
  static const std::map<std::string, Function> functions = {
      {"acos", std::acos},
      {"acosh", std::acosh},
      {"asin", std::asin},
      {"asinh", std::asinh},
      {"atan", std::atan},
      {"atanh", std::atanh},
      {"cbrt", std::cbrt},
      {"celu", [](double x) { return x > 0 ? x : std::expm1(x); }},
      {"cos", std::cos},
      {"cosh", std::cosh},
      {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }},
      {"erf", std::erf},
      {"erfc", std::erfc},
      {"exp", std::exp},
      {"exp2", std::exp2},
      {"expm1", std::expm1},
      {"gelu",
       [](double x) { return AtMinusInf(x, x * (0.5 * std::erfc(x * -0.70710678118654752440))); }},
      {"log", std::log},
      {"log10", std::log10},
      {"log1p", std::log1p},
      {"log2", std::log2},
      {"log_sigmoid", LogSigmoid},
      {"mish", [](double x) { return AtMinusInf(x, x * std::tanh(Softplus(x))); }},
      {"reciprocal", [](double x) { return 1 / x; }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"selu", Selu},
      {"sigmoid", Sigmoid},
      {"silu", [](double x) { return AtMinusInf(x, x * Sigmoid(x)); }},
      {"sin", std::sin},
      {"sinh", std::sinh},
      {"softplus", Softplus},
      {"softsign",
       [](double x) { return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x)); }},
      {"sqrt", std::sqrt},
      {"tan", std::tan},
      {"tanh", std::tanh},
  };
  return functions;
}

// The inputs with the maximum errors, found with all f32. They are always tested, so a declared
// error that is too small is noticed with any stride.
std::vector<float> WorstPlaces(const std::string& op) {
  static const std::map<std::string, std::vector<float>> places = {
      {"erf", {1.01811838f, 1.001387f}}, {"erfc", {9.15724468f}},   {"exp", {-5.85342598f}},
      {"expm1", {0.380586565f}},         {"gelu", {-12.3871107f}},  {"log", {1.40446842f}},
      {"sigmoid", {-5.84450912f}},       {"silu", {0.383669943f}},  {"softplus", {-5.87144279f}},
      {"softsign", {-2047.37488f}},      {"tanh", {-0.631044209f}}, {"rsqrt", {8.5596829e+37f}},
  };
  const auto found = places.find(op);
  return found == places.end() ? std::vector<float>() : found->second;
}

// |actual - expected| in ULP at `expected`.
double UlpError(float actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : HUGE_VAL;
  const float rounded = static_cast<float>(expected);
  if (actual == rounded) {
    if (std::isinf(rounded)) return 0;
  } else if (std::isinf(rounded) || !std::isfinite(actual)) {
    // The largest finite float counts as adjacent to infinity.
    constexpr double kLast = std::numeric_limits<float>::max();
    const bool is_near =
        std::fabs(expected) > 0x1.fffffcp127 && std::fabs(expected) < 0x1.000004p128;
    return is_near && std::fabs(actual) >= kLast && std::signbit(actual) == std::signbit(expected)
               ? 1
               : HUGE_VAL;
  }
  int exponent = 0;
  std::frexp(expected, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent, -125) - 24);
  return std::fabs(static_cast<double>(actual) - expected) / ulp;
}

TEST(OpsUlp, IsAsDeclared) {
  const char* text = std::getenv("PDL_ULP_STRIDE");
  const uint64_t stride = text == nullptr ? 20011 : std::strtoull(text, nullptr, 10);
  const char* only = std::getenv("PDL_ULP_OPERATOR");
  ASSERT_GT(stride, 0u);
  for (const OpDef* def : GlobalRegistry().All()) {
    if (def->signature.inputs.size() != 1) continue;
    const auto reference = References().find(def->name());
    const bool is_known = reference != References().end();
    EXPECT_EQ(def->signature.max_ulp > 0, is_known)
        << def->name() << (is_known ? " declares no SetMaxUlp" : " has no reference in this test");
    if (!is_known || (only != nullptr && def->name() != only)) continue;
    double worst = 0;
    float worst_at = 0;
    constexpr size_t kPiece = 1 << 20;
    std::vector<float> x = WorstPlaces(def->name());
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; x.clear()) {
      for (; bits < uint64_t{1} << 32 && x.size() < kPiece; bits += stride)
        x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
      const auto n = static_cast<int64_t>(x.size());
      const Tensor y = Apply(def->name(), {Make<float>({n}, x)});
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = UlpError(y.data<float>()[i], reference->second(x[i]));
        if (error > worst) worst = error, worst_at = x[i];
      }
    }
    std::printf("%-12s %.3f ULP at %.9g\n", def->name().c_str(), worst, worst_at);
    EXPECT_LE(worst, def->signature.max_ulp) << def->name() << " at " << worst_at;
  }
}

}  // namespace
}  // namespace pdl::testing
