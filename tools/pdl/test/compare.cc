#include "tools/pdl/test/compare.h"

#include <algorithm>
#include <cmath>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "tools/pdl/compare/elements.h"
#include "tools/pdl/support/elements.h"

namespace pdl {
namespace {

// Returns "element [0, 3]", or "the value" for a scalar.
std::string ElementName(const PackedValue& value, int64_t index) {
  const Tensor& tensor = value.values;
  if (tensor.rank() == 0) return "the value";
  llvm::SmallVector<std::string, 4> parts = ElementIndex(tensor, index);
  // Names a row of packed values by its sequence and its position in that.
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

// Describes the first row with different lengths in two ragged values; empty if there is none.
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
      return llvm::formatv("row {0}{1} has the length {2}, expected {3}", i,
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
  const ElementComparison found =
      CompareElements(left, right, /*nan_is_nan=*/true, [&](double, double y, double error) {
        return error / std::max(1.0, std::fabs(y)) <= tolerance;
      });
  if (found.wrong == 0) return std::nullopt;
  const int64_t other = is_scalar ? 0 : found.worst;
  const double expected = ElementAsReal(right, other);
  const double error = ElementError(ElementAsReal(left, found.worst), expected, left.dtype());
  std::string text = ElementName(left_value, found.worst) + " is " +
                     ElementText(left, found.worst) + ", expected " + ElementText(right, other) +
                     ": off by " + ErrorText(error);
  if (expected != 0 && std::isfinite(expected))
    text += " (relative " + ErrorText(error / std::fabs(expected)) + ")";
  text += ", tolerance " + ErrorText(tolerance);
  if (left.num_elements() > 1) {
    text += llvm::formatv("; {0} of {1} elements differ, this one most", found.wrong,
                          left.num_elements())
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
    // A broadcast operand has an element at the same index only if the sizes are equal.
    if (tensor.num_elements() == 1) return ElementText(tensor, 0);
    if (tensor.sizes() == condition.sizes()) return ElementText(tensor, first);
    return std::string("of ") + tensor.TypeString();
  };
  text = ElementName(value, first) + " is false";
  if (left != nullptr && right != nullptr)
    text += ": left " + side(*left) + ", right " + side(*right);
  if (condition.num_elements() > 1)
    text += llvm::formatv("; false at {0} of {1} elements", wrong, condition.num_elements()).str();
  return text;
}

}  // namespace pdl
