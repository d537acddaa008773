// Module: runtime
#ifndef PDL_RUNTIME_FINITE_H_
#define PDL_RUNTIME_FINITE_H_

#include <cstdint>

#include "pdl/compiler/export.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Index of the first nan or infinity of a tensor on the CPU from element `from` on, or -1. Only
/// float dtypes have any.
PDL_API int64_t FindNotFinite(const Tensor& tensor, int64_t from = 0);

}  // namespace pdl

#endif  // PDL_RUNTIME_FINITE_H_
