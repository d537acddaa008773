#include "../cuda_testing.h"
#include "kernels/cuda/cuda_ops.h"
#include "pdl/op/cuda_context.h"

namespace pdl::testing {

llvm::Expected<std::unique_ptr<DeviceContext>> CreateCudaContext() {
  static const bool added = (cuda::AddAllKernels(GlobalRegistry()), true);
  static_cast<void>(added);
  return CUDAContext::Create(0);
}

}  // namespace pdl::testing
