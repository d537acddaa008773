#ifndef PDL_TOOLS_PDL_TEST_COMPARE_H_
#define PDL_TOOLS_PDL_TEST_COMPARE_H_

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// The tolerance of `~=` where the test names none.
double DefaultTolerance(DType dtype);

/// What is wrong with `left ~= right`, or nothing: |left - right| <= tolerance * max(1, |right|)
/// for each element, nan meets nan, an infinity itself. `right` has the sizes (and, where they are
/// ragged, the lengths) of `left` or is a scalar. Names the worst element, its index, both values,
/// the absolute and the relative error. Both lie on the CPU and have one dtype.
std::optional<std::string> CompareNear(const PackedValue& left, const PackedValue& right,
                                       double tolerance);

/// What is wrong with a condition, or nothing: the first element that is false and, where `left`
/// and `right` are what it compares, their values there.
std::optional<std::string> CheckTrue(const PackedValue& condition, const Tensor* left,
                                     const Tensor* right);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TEST_COMPARE_H_
