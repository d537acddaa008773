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

/// A context on one NVIDIA GPU: a stream, a cuBLASLt handle and a memory pool. All Forks share
/// them, so their work is executed in launch order. Created by CreateDeviceContext. The class is in
/// libpdl_cuda.so, so a program may only call inline and virtual functions.
class PDL_API CUDAContext final : public DeviceContext {
 public:
  static constexpr DeviceKind kKind = DeviceKind::kCUDA;
  /// Creates a context on the GPU `index`, in the order of CUDA_VISIBLE_DEVICES. A DeviceError if
  /// there is no driver or no such GPU, or the GPU is older than the kernels support.
  static llvm::Expected<std::unique_ptr<CUDAContext>> Create(int index);

  /// The cudaStream_t. It can be captured: nothing here uses the legacy default stream.
  CUstream_st* stream() const { return stream_; }
  /// The cublasLtHandle_t.
  cublasLtContext* cublas() const { return cublas_; }
  int num_multiprocessors() const { return num_multiprocessors_; }

  std::unique_ptr<DeviceContext> Fork() const override;
  /// Allocates from the pool, in stream order: freed memory is reused by work that is launched
  /// later.
  llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) override;
  llvm::Error CopyFromHost(void* to, const void* from, int64_t bytes) override;
  llvm::Error CopyToHost(void* to, const void* from, int64_t bytes) override;
  llvm::Error CopyWithin(void* to, const void* from, int64_t bytes) override;
  llvm::Error Synchronize() override;
  uint64_t Fingerprint() const override;

 private:
  struct Shared;
  explicit CUDAContext(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
  CUstream_st* stream_;
  cublasLtContext* cublas_;
  int num_multiprocessors_;
};

}  // namespace pdl

#endif  // PDL_OP_CUDA_CONTEXT_H_
