// Replaces the sources that need nccl.h where it was not found.
#include "kernels/cuda/gpu_transport.h"
#include "pdl/op/error.h"

namespace pdl::cuda {

std::string WhyNoNccl() {
  return "this build of libpdl_cuda.so has no support for NCCL, because nccl.h was not found; it "
         "is in the package libnccl-dev of NVIDIA's repository for Debian";
}

llvm::Expected<std::unique_ptr<GpuTransport>> ConnectByNccl(Communicator&) {
  return llvm::make_error<RankError>(WhyNoNccl());
}

}  // namespace pdl::cuda
