// The CUDA kernels of libpdl's operators, family by family.
#ifndef PDL_KERNELS_CUDA_CUDA_OPS_H_
#define PDL_KERNELS_CUDA_CUDA_OPS_H_

#include "pdl/op/op_registry.h"

namespace pdl::cuda {

/// Adds all CUDA kernels to the operators of `registry`, which must contain libpdl's.
void AddAllKernels(OpRegistry& registry);

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_CUDA_OPS_H_
