// Whether all elements of a tensor are numbers.
#ifndef PDL_KERNELS_CORE_ALL_FINITE_H_
#define PDL_KERNELS_CORE_ALL_FINITE_H_

#include "pdl/op/operator.h"

namespace pdl {

/// True where no element is NaN or infinite. Of a tensor of floats on the CPU.
bool AllFinite(const Tensor& tensor, CPUContext& context);
/// The same in the calling thread alone.
bool AllFinite(const Tensor& tensor);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_ALL_FINITE_H_
