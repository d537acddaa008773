#include "onnx/model/shortest_number.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "pdl/op/constant.h"

namespace pdl {
namespace {

/// Rounds a number to so many decimal digits.
double Rounded(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
  return std::strtod(text, nullptr);
}

}  // namespace

double ShortestNumber(double value, DType dtype) {
  if (!IsFloat(dtype) || dtype == DType::kF64 || !std::isfinite(value)) return value;
  for (int digits = 1; digits < std::numeric_limits<float>::max_digits10; ++digits) {
    const double rounded = Rounded(value, digits);
    if (Constant::Scalar(dtype, rounded).ElementAsDouble(0) == value) return rounded;
  }
  return Rounded(value, std::numeric_limits<float>::max_digits10);
}

double MeantNumber(float value) {
  const float infinity = std::numeric_limits<float>::infinity();
  const double few = Rounded(static_cast<double>(value), 3);
  const auto near = static_cast<float>(few);
  if (std::isfinite(value) && near != value &&
      (near == std::nextafter(value, infinity) || near == std::nextafter(value, -infinity)))
    return few;
  return ShortestNumber(static_cast<double>(value), DType::kF32);
}

}  // namespace pdl
