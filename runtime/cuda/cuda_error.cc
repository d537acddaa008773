#include "runtime/cuda/cuda_error.h"

#include "pdl/op/device_context.h"
#include "pdl/op/error.h"

namespace pdl {

llvm::Error ToError(cudaError_t status, const char* what, Device device) {
  if (status == cudaSuccess) return llvm::Error::success();
  cudaGetLastError();
  return MakeDeviceError("{0} failed on {1}: {2} ({3})", what, DeviceToString(device),
                         cudaGetErrorString(status), cudaGetErrorName(status));
}

llvm::Error ToError(cublasStatus_t status, const char* what, Device device) {
  if (status == CUBLAS_STATUS_SUCCESS) return llvm::Error::success();
  return MakeDeviceError("{0} failed on {1}: {2}", what, DeviceToString(device),
                         cublasLtGetStatusName(status));
}

}  // namespace pdl
