#ifndef PDL_TOOLS_PDL_COMPARE_ELEMENTS_H_
#define PDL_TOOLS_PDL_COMPARE_ELEMENTS_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// What a walk over two tensors found.
struct ElementComparison {
  int64_t elements = 0;
  /// Those that are not near each other: how many, the first one, and the one furthest apart.
  int64_t wrong = 0;
  int64_t first = -1;
  int64_t worst = -1;
  /// Over all elements, near or not; infinity where one is finite alone. The relative error is that
  /// to the right side, where that is not 0.
  double max_error = 0;
  double max_relative = 0;
  /// Of floats.
  uint64_t max_ulp = 0;
  /// All bits are equal, but for the kinds of nan.
  bool is_equal() const { return max_error == 0 && wrong == 0; }
};

/// Whether two different elements are near: both are finite, and `error` is the distance.
using IsNear = llvm::function_ref<bool(double left, double right, double error)>;

/// Compares elements one by one. Equal bits are near, and so are equal numbers; a nan is near a nan
/// where `nan_is_nan`, an infinity near itself alone. `right` has the sizes of `left`, or is a
/// scalar. Both lie on the CPU and are floats, or have one dtype.
ElementComparison CompareElements(const Tensor& left, const Tensor& right, bool nan_is_nan,
                                  IsNear is_near);

/// How many floats of `dtype` lie between two numbers, each rounded to it, one of them counted: 0
/// for equal ones. The largest number where one is a nan.
uint64_t UlpDistance(double left, double right, DType dtype);
/// Of two dtypes of floats the one with less precision.
DType CoarserFloat(DType a, DType b);

/// |left - right|; of two different integers at least 1, whatever rounding says.
double ElementError(double left, double right, DType dtype);
/// The element as the language writes it.
std::string ElementText(const Tensor& tensor, int64_t index);
/// Where the element is: "0", "3".
llvm::SmallVector<std::string, 4> ElementIndex(const Tensor& tensor, int64_t index);
/// A number in three digits.
std::string ErrorText(double value);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_ELEMENTS_H_
