// The only file that launches kernels.
#ifndef PDL_KERNELS_CUDA_LAUNCH_KERNEL_H_
#define PDL_KERNELS_CUDA_LAUNCH_KERNEL_H_

#include <cuda_runtime_api.h>

namespace pdl::cuda {

/// Launches a kernel with arguments of exactly its parameters' types.
template <typename... Parameters>
cudaError_t LaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                         Parameters&... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers, 0, stream);
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_LAUNCH_KERNEL_H_
