// Tests whether all elements of a tensor are finite.
#ifndef PDL_KERNELS_CORE_ALL_FINITE_H_
#define PDL_KERNELS_CORE_ALL_FINITE_H_

#include "pdl/op/operator.h"

namespace pdl {

/// Whether no element is NaN or infinite. Takes a tensor of floats on the CPU.
bool AllFinite(const Tensor& tensor, CPUContext& context);
/// The same, in the calling thread only.
bool AllFinite(const Tensor& tensor);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_ALL_FINITE_H_
