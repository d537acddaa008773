#include "tools/pdl/compare/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "pdl/op/attribute.h"
#include "pdl/op/half.h"
#include "tools/pdl/support/elements.h"

namespace pdl {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

// Maps floats to integers in the same order: the sign and magnitude of their bits, around 0.
template <class Bits, class Float>
int64_t Rank(Float value) {
  const Bits bits = std::bit_cast<Bits>(value);
  constexpr Bits kSign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
  const int64_t magnitude = static_cast<int64_t>(bits & static_cast<Bits>(~kSign));
  return bits & kSign ? -magnitude : magnitude;
}

template <class Bits, class Float>
uint64_t Distance(Float left, Float right) {
  const int64_t a = Rank<Bits>(left), b = Rank<Bits>(right);
  return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
               : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
}

bool HaveEqualBits(const Tensor& left, int64_t i, const Tensor& right, int64_t j) {
  if (left.dtype() != right.dtype()) return false;
  const auto size = static_cast<size_t>(DTypeSize(left.dtype()));
  return std::memcmp(static_cast<const char*>(left.raw()) + static_cast<size_t>(i) * size,
                     static_cast<const char*>(right.raw()) + static_cast<size_t>(j) * size,
                     size) == 0;
}

}  // namespace

uint64_t UlpDistance(double left, double right, DType dtype) {
  if (std::isnan(left) || std::isnan(right)) return kAll;
  const float a = static_cast<float>(left), b = static_cast<float>(right);
  switch (dtype) {
    case DType::kF64:
      return Distance<uint64_t>(left, right);
    case DType::kF16:
      return Distance<uint16_t>(float16(a), float16(b));
    case DType::kBF16:
      return Distance<uint16_t>(bfloat16(a), bfloat16(b));
    default:
      return Distance<uint32_t>(a, b);
  }
}

DType CoarserFloat(DType a, DType b) {
  const auto digits = [](DType dtype) {
    return dtype == DType::kF64 ? 53 : dtype == DType::kF32 ? 24 : dtype == DType::kF16 ? 11 : 8;
  };
  return digits(a) <= digits(b) ? a : b;
}

double ElementError(double left, double right, DType dtype) {
  const double error = std::fabs(left - right);
  return IsFloat(dtype) ? error : std::max(error, 1.0);
}

ElementComparison CompareElements(const Tensor& left, const Tensor& right, bool nan_is_nan,
                                  IsNear is_near) {
  const bool is_scalar = right.rank() == 0;
  const bool is_float = IsFloat(left.dtype());
  const DType coarser = is_float ? CoarserFloat(left.dtype(), right.dtype()) : left.dtype();
  ElementComparison found;
  found.elements = left.num_elements();
  double worst_excess = -1;
  for (int64_t i = 0; i < found.elements; ++i) {
    const int64_t j = is_scalar ? 0 : i;
    if (nan_is_nan && HaveEqualBits(left, i, right, j)) continue;
    const double x = ElementAsReal(left, i), y = ElementAsReal(right, j);
    if (nan_is_nan && std::isnan(x) && std::isnan(y)) continue;
    if (!nan_is_nan && !std::isnan(x) && HaveEqualBits(left, i, right, j)) continue;
    if (is_float && x == y) continue;
    const bool is_finite = std::isfinite(x) && std::isfinite(y);
    const double error = is_finite ? ElementError(x, y, left.dtype()) : kInfinity;
    const double magnitude = std::fabs(y);
    found.max_error = std::max(found.max_error, error);
    if (magnitude > 0)
      found.max_relative = std::max(found.max_relative, is_finite ? error / magnitude : kInfinity);
    if (is_float) found.max_ulp = std::max(found.max_ulp, UlpDistance(x, y, coarser));
    if (is_finite && is_near(x, y, error)) continue;
    ++found.wrong;
    if (found.first < 0) found.first = i;
    const double excess = is_finite ? error / std::max(1.0, magnitude) : kInfinity;
    if (excess > worst_excess) {
      worst_excess = excess;
      found.worst = i;
    }
  }
  return found;
}

std::string ElementText(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kF64:
      return FloatToString(tensor.data<double>()[index]);
    case DType::kF16:
    case DType::kBF16:
    case DType::kF32:
      return FloatToString(static_cast<float>(ElementAsReal(tensor, index)));
    case DType::kU64:
      return std::to_string(tensor.data<uint64_t>()[index]);
    case DType::kBool:
      return tensor.data<bool>()[index] ? "true" : "false";
    case DType::kI64:
      return std::to_string(tensor.data<int64_t>()[index]);
    default:
      return std::to_string(static_cast<int64_t>(ElementAsReal(tensor, index)));
  }
}

llvm::SmallVector<std::string, 4> ElementIndex(const Tensor& tensor, int64_t index) {
  llvm::SmallVector<std::string, 4> parts(tensor.rank());
  for (unsigned axis = tensor.rank(); axis-- > 0;) {
    parts[axis] = std::to_string(index % tensor.size(axis));
    index /= tensor.size(axis);
  }
  return parts;
}

std::string ErrorText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace pdl
