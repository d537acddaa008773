#include "kernels/cuda/cuda_ops.h"

#include "kernels/core/families.h"

#define PDL_NO_KERNELS(family)

namespace pdl::cuda {

#define PDL_DECLARE(family) void Add##family##Kernels(OpRegistry& registry);
PDL_FAMILIES(PDL_NO_KERNELS, PDL_DECLARE)
#undef PDL_DECLARE

void AddAllKernels(OpRegistry& registry) {
#define PDL_ADD(family) Add##family##Kernels(registry);
  PDL_FAMILIES(PDL_NO_KERNELS, PDL_ADD)
#undef PDL_ADD
}

}  // namespace pdl::cuda
