#ifndef PDL_OP_CUDA_CONTEXT_H_
#define PDL_OP_CUDA_CONTEXT_H_

#include <cstdint>
#include <memory>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"

// The types that cudaStream_t and cublasLtHandle_t point to, so that this header needs none of
// CUDA's.
struct CUstream_st;
struct cublasLtContext;

namespace pdl {

/// A check that a kernel makes: its failure is known when the device has been synchronized.
class DeferredCheck {
 public:
  virtual ~DeferredCheck() = default;
  /// The Error of the run, with the location of the call, if the check fails for an element with
  /// this value.
  virtual llvm::Error Failure(int64_t element, int64_t value) const = 0;
};

/// The first failed check of a run, in memory of the CPU that kernels write to. Kernels of one
/// stream run one after another, so it needs no atomic access.
struct CheckFailure {
  const DeferredCheck* check = nullptr;  // null: no check failed
  int64_t element = 0, value = 0;
};

/// A context on one NVIDIA GPU: a stream, a cuBLASLt handle and a memory pool. All Forks share
/// them, so their work is executed in launch order. Created by CreateDeviceContext. The class is in
/// libpdl_cuda.so, so a program may only call inline and virtual functions.
class PDL_API CUDAContext final : public DeviceContext {
 public:
  static constexpr DeviceKind kKind = DeviceKind::kCUDA;
  /// Creates a context on the GPU `index`, in the order of CUDA_VISIBLE_DEVICES. A DeviceError if
  /// there is no driver or no such GPU, or the GPU is older than the kernels support.
  static llvm::Expected<std::unique_ptr<CUDAContext>> Create(int index);
  /// The number of GPUs; a DeviceError if there is no driver that can be used.
  static llvm::Expected<int> CountDevices();

  /// The cudaStream_t. It can be captured: nothing here uses the legacy default stream.
  CUstream_st* stream() const { return stream_; }
  /// The cublasLtHandle_t.
  cublasLtContext* cublas() const { return cublas_; }
  int num_multiprocessors() const { return num_multiprocessors_; }

  ~CUDAContext() override;
  /// A Fork has a CheckFailure of its own in failures(), unless very many exist.
  std::unique_ptr<DeviceContext> Fork() const override;
  /// Allocates from the pool, in stream order: freed memory is reused by work that is launched
  /// later.
  llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) override;
  llvm::Error CopyFromHost(void* to, const void* from, int64_t bytes) override;
  llvm::Error CopyToHost(void* to, const void* from, int64_t bytes) override;
  llvm::Error CopyWithin(void* to, const void* from, int64_t bytes) override;
  /// Also returns, and forgets, the failure of a check of this run.
  llvm::Error Synchronize() override;
  uint64_t Fingerprint() const override;
  /// Ranks are connected by NCCL, which is loaded by the first call.
  llvm::Expected<std::shared_ptr<DeviceRanks>> JoinRanks(Communicator* ranks) override;

 private:
  struct Shared;
  explicit CUDAContext(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
  CUstream_st* stream_;
  cublasLtContext* cublas_;
  int num_multiprocessors_;
  int failure_slot_ = -1;  // index of its own CheckFailure; -1: it has none
};

}  // namespace pdl

#endif  // PDL_OP_CUDA_CONTEXT_H_
