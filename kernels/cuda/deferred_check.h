// Launching kernels that make checks. For .cu files.
#ifndef PDL_KERNELS_CUDA_DEFERRED_CHECK_H_
#define PDL_KERNELS_CUDA_DEFERRED_CHECK_H_

#include <memory>

#include "pdl/op/cuda_context.h"
#include "pdl/op/error.h"

namespace pdl::cuda {

/// Calls launch(context, failure), which launches a kernel that stores a failed check in *failure.
/// If the run has nowhere to report it, waits for the kernel.
template <class Launch>
llvm::Error LaunchWithFailure(CUDAContext& context, Launch launch) {
  if (auto* failure = static_cast<CheckFailure*>(context.failures()))
    return launch(context, failure);
  std::unique_ptr<DeviceContext> own = context.Fork();
  auto* failure = static_cast<CheckFailure*>(own->failures());
  if (failure == nullptr)
    return MakeDeviceError("more than 256 runs at the same time cannot make checks");
  if (auto error = launch(static_cast<CUDAContext&>(*own), failure)) return error;
  return own->Synchronize();
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_DEFERRED_CHECK_H_
