// Replaces kernels/cuda/launch_kernel.h: kernels run synchronously on the CPU.
#ifndef PDL_KERNELS_LAUNCH_KERNEL_H_
#define PDL_KERNELS_LAUNCH_KERNEL_H_

#include "emulator.h"

namespace pdl::cuda {

template <typename... Parameters>
cudaError_t LaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t,
                         Parameters&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.y > 65535 || grid.z != 1 || block.z != 1 ||
      block.x * block.y == 0 || block.x * block.y > 1024)
    return cudaErrorInvalidConfiguration;
  static_assert((sizeof(Parameters) + ... + 0) <= 4096, "a GPU has no room for more");
  emulator::Run(grid, block, [&] { kernel(arguments...); });
  return cudaSuccess;
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_LAUNCH_KERNEL_H_
