#include "../cuda_testing.h"
#include "kernels/cuda/cuda_ops.h"
#include "pdl/op/cuda_context.h"

namespace pdl::testing {

llvm::Expected<std::unique_ptr<DeviceContext>> CreateCudaContext(int index) {
  static const bool added = (cuda::AddAllKernels(GlobalRegistry()), true);
  static_cast<void>(added);
  return CUDAContext::Create(index);
}

int CountCudaDevices() { return llvm::cantFail(CUDAContext::CountDevices()); }

}  // namespace pdl::testing
