// Converts errors of CUDA and cuBLASLt to DeviceErrors. For the sources of libpdl_cuda.so.
#ifndef PDL_RUNTIME_CUDA_CUDA_ERROR_H_
#define PDL_RUNTIME_CUDA_CUDA_ERROR_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include "llvm/Support/Error.h"
#include "pdl/op/device.h"

namespace pdl {

/// Returns success, or "<what> failed on cuda:0: out of memory (cudaErrorMemoryAllocation)". Clears
/// the calling thread's last error, so that a later check does not report it again.
llvm::Error ToError(cudaError_t status, const char* what, Device device);
llvm::Error ToError(cublasStatus_t status, const char* what, Device device);

/// Sets the calling thread's current device during its lifetime.
class CurrentDevice {
 public:
  explicit CurrentDevice(Device device) {
    if (cudaGetDevice(&previous_) != cudaSuccess) previous_ = device.index;
    changed_ = previous_ != device.index;
    if (changed_) cudaSetDevice(device.index);
  }
  ~CurrentDevice() {
    if (changed_) cudaSetDevice(previous_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
  bool changed_ = false;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_CUDA_CUDA_ERROR_H_
