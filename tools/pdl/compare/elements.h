#ifndef PDL_TOOLS_PDL_COMPARE_ELEMENTS_H_
#define PDL_TOOLS_PDL_COMPARE_ELEMENTS_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// The differences between two tensors.
struct ElementComparison {
  int64_t elements = 0;
  /// The elements that are not near each other: their number, the first one, and the one with the
  /// largest difference.
  int64_t wrong = 0;
  int64_t first = -1;
  int64_t worst = -1;
  /// Over all elements, near or not; infinity if only one of two elements is finite. The relative
  /// error is relative to the right side, where that is not 0.
  double max_error = 0;
  double max_relative = 0;
  /// For floats only.
  uint64_t max_ulp = 0;
  /// Whether all bits are equal, except for the payloads of nans.
  bool is_equal() const { return max_error == 0 && wrong == 0; }
};

/// Whether two different finite elements are near; `error` is their distance.
using IsNear = llvm::function_ref<bool(double left, double right, double error)>;

/// Compares two tensors element by element. Equal bits and equal numbers are near, a nan is near a
/// nan if `nan_is_nan`, and an infinity is near only itself. `right` has the sizes of `left`, or is
/// a scalar. Both are on the CPU and are floats, or have the same dtype.
ElementComparison CompareElements(const Tensor& left, const Tensor& right, bool nan_is_nan,
                                  IsNear is_near);

/// The distance in ULPs of `dtype` between two numbers, each rounded to `dtype`: 0 for equal ones,
/// the largest number if one is a nan.
uint64_t UlpDistance(double left, double right, DType dtype);
/// The less precise one of two float dtypes.
DType CoarserFloat(DType a, DType b);

/// |left - right|; at least 1 for two different integers, however the difference is rounded.
double ElementError(double left, double right, DType dtype);
/// The element in the syntax of the language.
std::string ElementText(const Tensor& tensor, int64_t index);
/// The index of the element, one string for each dim: "0", "3".
llvm::SmallVector<std::string, 4> ElementIndex(const Tensor& tensor, int64_t index);
/// A number with three digits.
std::string ErrorText(double value);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_ELEMENTS_H_
