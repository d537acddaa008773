// Module: runtime
#ifndef PDL_RUNTIME_FINITE_H_
#define PDL_RUNTIME_FINITE_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/compiler/export.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Index of the first nan or infinity of a tensor on the CPU from element `from` on, or -1. Only
/// float dtypes have any.
PDL_API int64_t FindNotFinite(const Tensor& tensor, int64_t from = 0);
/// Returns "nan at [1, 0]", or "nan" for a scalar. `element` is its index in a tensor of `sizes`.
PDL_API std::string DescribeNotFinite(double value, int64_t element, llvm::ArrayRef<int64_t> sizes);

}  // namespace pdl

#endif  // PDL_RUNTIME_FINITE_H_
