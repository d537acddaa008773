#include "tools/pdl/test_compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/attribute.h"
#include "tools/pdl/elements.h"

namespace pdl {
namespace {

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

// "element [0, 3]", or "the value" of a scalar.
std::string Place(const PackedValue& value, int64_t index) {
  const Tensor& tensor = value.values;
  if (tensor.rank() == 0) return "the value";
  llvm::SmallVector<std::string, 4> parts(tensor.rank());
  for (unsigned axis = tensor.rank(); axis-- > 0;) {
    parts[axis] = std::to_string(index % tensor.size(axis));
    index /= tensor.size(axis);
  }
  // A row of packed values, as the sequence that it is in and its place there.
  for (size_t level = value.offsets.size(); level-- > 0;) {
    const int64_t* begin = value.offsets[level].data<int64_t>();
    const int64_t* end = begin + value.offsets[level].num_elements();
    int64_t row = 0;
    if (llvm::StringRef(parts[0]).getAsInteger(10, row)) break;
    const int64_t sequence = std::upper_bound(begin, end, row) - begin - 1;
    parts[0] = std::to_string(row - begin[sequence]);
    parts.insert(parts.begin(), std::to_string(sequence));
  }
  return "element [" + llvm::join(parts, ", ") + "]";
}

std::string ErrorText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// The first row of which two ragged values have different lengths; empty where there is none.
std::string DifferentLengths(const PackedValue& left, const PackedValue& right) {
  for (size_t level = 0; level < left.offsets.size(); ++level) {
    const Tensor& a = left.offsets[level];
    const Tensor& b = right.offsets[level];
    if (a.num_elements() != b.num_elements())
      return "the two sides are " + left.TypeString() + " and " + right.TypeString();
    for (int64_t i = 0; i + 1 < a.num_elements(); ++i) {
      const int64_t mine = a.data<int64_t>()[i + 1] - a.data<int64_t>()[i];
      const int64_t theirs = b.data<int64_t>()[i + 1] - b.data<int64_t>()[i];
      if (mine == theirs) continue;
      return llvm::formatv("row {0}{1} has the length {2}, wanted {3}", i,
                           level > 0 ? " of the inner ones" : "", mine, theirs);
    }
  }
  return "";
}

}  // namespace

double DefaultTolerance(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-10;
    case DType::kF16:
      return 1e-3;
    case DType::kBF16:
      return 1e-2;
    case DType::kF32:
      return 1e-5;
    default:
      return 0;
  }
}

std::optional<std::string> CompareNear(const PackedValue& left_value,
                                       const PackedValue& right_value, double tolerance) {
  const Tensor& left = left_value.values;
  const Tensor& right = right_value.values;
  const bool is_scalar = right.rank() == 0;
  if (!is_scalar) {
    if (std::string wrong = DifferentLengths(left_value, right_value); !wrong.empty()) return wrong;
  }
  if (!is_scalar && left.sizes() != right.sizes()) {
    return "the two sides are " + left.TypeString() + " and " + right.TypeString();
  }
  int64_t wrong = 0, worst = -1;
  double worst_error = -1, worst_excess = -1;
  for (int64_t i = 0; i < left.num_elements(); ++i) {
    const int64_t j = is_scalar ? 0 : i;
    const size_t size = static_cast<size_t>(DTypeSize(left.dtype()));
    const char* a = static_cast<const char*>(left.raw()) + static_cast<size_t>(i) * size;
    const char* b = static_cast<const char*>(right.raw()) + static_cast<size_t>(j) * size;
    if (std::memcmp(a, b, size) == 0) continue;
    const double x = ElementAsReal(left, i), y = ElementAsReal(right, j);
    if (std::isnan(x) && std::isnan(y)) continue;
    // Of different integers the difference is at least 1, whatever rounding says.
    double error = std::fabs(x - y);
    if (!IsFloat(left.dtype())) error = std::max(error, 1.0);
    if (x == y && IsFloat(left.dtype())) continue;
    const double excess = error / std::max(1.0, std::fabs(y));
    const bool is_near = std::isfinite(x) && std::isfinite(y) && excess <= tolerance;
    if (is_near) continue;
    ++wrong;
    const double rank = std::isnan(excess) ? std::numeric_limits<double>::infinity() : excess;
    if (rank > worst_excess) {
      worst_excess = rank;
      worst_error = error;
      worst = i;
    }
  }
  if (wrong == 0) return std::nullopt;
  const int64_t other = is_scalar ? 0 : worst;
  const double magnitude = std::fabs(ElementAsReal(right, other));
  std::string text = Place(left_value, worst) + " is " + ElementText(left, worst) + ", wanted " +
                     ElementText(right, other) + ": off by " + ErrorText(worst_error);
  if (magnitude > 0 && std::isfinite(magnitude))
    text += " (relative " + ErrorText(worst_error / magnitude) + ")";
  text += ", tolerance " + ErrorText(tolerance);
  if (left.num_elements() > 1) {
    text += llvm::formatv("; {0} of {1} elements differ, this one most", wrong, left.num_elements())
                .str();
  }
  return text;
}

std::optional<std::string> CheckTrue(const PackedValue& value, const Tensor* left,
                                     const Tensor* right) {
  const Tensor& condition = value.values;
  int64_t first = -1, wrong = 0;
  for (int64_t i = 0; i < condition.num_elements(); ++i) {
    if (condition.data<bool>()[i]) continue;
    if (first < 0) first = i;
    ++wrong;
  }
  if (wrong == 0) return std::nullopt;
  std::string text;
  auto side = [&](const Tensor& tensor) {
    // What is broadcast has its value at the same place only if the sizes are equal.
    if (tensor.num_elements() == 1) return ElementText(tensor, 0);
    if (tensor.sizes() == condition.sizes()) return ElementText(tensor, first);
    return std::string("of ") + tensor.TypeString();
  };
  text = Place(value, first) + " is false";
  if (left != nullptr && right != nullptr)
    text += ": left " + side(*left) + ", right " + side(*right);
  if (condition.num_elements() > 1)
    text += llvm::formatv("; false at {0} of {1} elements", wrong, condition.num_elements()).str();
  return text;
}

}  // namespace pdl
