// Messages between the GPUs of ranks. For sources of libpdl_cuda.so.
#ifndef PDL_KERNELS_CUDA_GPU_TRANSPORT_H_
#define PDL_KERNELS_CUDA_GPU_TRANSPORT_H_

#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/train/communicator.h"
#include "runtime/distributed/device_ranks.h"

struct CUstream_st;

namespace pdl::cuda {

/// All ranks make the same calls in the same order. After an Error or Abort, calls return a
/// RankError.
class GpuTransport {
 public:
  virtual ~GpuTransport() = default;
  /// Launches the messages, none of which is empty, on the stream. There may be no messages.
  virtual llvm::Error Exchange(llvm::ArrayRef<DeviceMessage> send,
                               llvm::ArrayRef<DeviceMessage> receive, CUstream_st* stream) = 0;
  /// Waits until `is_done` returns true, which means that all launched messages have arrived. A
  /// RankError after the timeout, or if a message cannot be transferred.
  virtual llvm::Error Wait(llvm::function_ref<llvm::Expected<bool>()> is_done) = 0;
  /// Ends the transfer of messages that have not arrived.
  virtual void Abort() = 0;
};

/// The reason why this process cannot use NCCL; empty if it can.
std::string WhyNoNccl();
/// Connects the current GPUs of the ranks, each of which has a GPU of its own, by NCCL. A RankError
/// if that is impossible; ranks that wait for one that failed return it after the timeout.
llvm::Expected<std::unique_ptr<GpuTransport>> ConnectByNccl(Communicator& ranks);

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_GPU_TRANSPORT_H_
