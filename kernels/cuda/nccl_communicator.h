// Messages between GPUs by NCCL. For sources of libpdl_cuda.so.
#ifndef PDL_KERNELS_CUDA_NCCL_COMMUNICATOR_H_
#define PDL_KERNELS_CUDA_NCCL_COMMUNICATOR_H_

#include <memory>
#include <string>

#include "kernels/cuda/gpu_transport.h"
#include "kernels/cuda/nccl_library.h"

namespace pdl::cuda {

/// A communicator of NCCL whose calls do not block, so that each wait ends after the timeout: then,
/// and after an Error of NCCL, the communicator is aborted. Knows nothing of CUDA.
class NcclCommunicator final : public GpuTransport {
 public:
  /// One of `size` ranks that make this call with the same id. `timeout` in seconds. The library
  /// must outlive the result.
  static llvm::Expected<std::unique_ptr<NcclCommunicator>> Create(const NcclLibrary& library,
                                                                  const ncclUniqueId& id, int rank,
                                                                  int size, double timeout);
  ~NcclCommunicator() override;

  llvm::Error Exchange(llvm::ArrayRef<DeviceMessage> send, llvm::ArrayRef<DeviceMessage> receive,
                       CUstream_st* stream) override;
  llvm::Error Wait(llvm::function_ref<llvm::Expected<bool>()> is_done) override;
  void Abort() override;

 private:
  NcclCommunicator(const NcclLibrary& library, double timeout)
      : library_(library), timeout_(timeout) {}
  /// Success also for ncclInProgress.
  llvm::Error Check(ncclResult_t result, const char* function);
  /// Waits until the work of the last call on the CPU has ended.
  llvm::Error Settle(const char* function, double timeout);
  llvm::Error TimeOut(const char* function, double timeout);

  const NcclLibrary& library_;
  const double timeout_;
  ncclComm_t communicator_ = nullptr;  // null after an Error or Abort
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_NCCL_COMMUNICATOR_H_
