#ifndef PDL_TOOLS_PDL_TEST_COMPARE_H_
#define PDL_TOOLS_PDL_TEST_COMPARE_H_

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// The tolerance of `~=` if the test gives none.
double DefaultTolerance(DType dtype);

/// Describes the failure of `left ~= right`; nullopt if it holds: |left - right| <= tolerance *
/// max(1, |right|) for each element; a nan equals a nan, and an infinity itself. `right` has the
/// sizes (and, if they are ragged, the lengths) of `left` or is a scalar. Reports the worst
/// element: its index, both values, the absolute and the relative error. Both are on the CPU and
/// have the same dtype.
std::optional<std::string> CompareNear(const PackedValue& left, const PackedValue& right,
                                       double tolerance);

/// Describes the failure of a condition; nullopt if it holds: the first element that is false and,
/// if `left` and `right` are the compared values, their elements at that index.
std::optional<std::string> CheckTrue(const PackedValue& condition, const Tensor* left,
                                     const Tensor* right);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TEST_COMPARE_H_
