#ifndef PDL_OP_CUDA_CONTEXT_H_
#define PDL_OP_CUDA_CONTEXT_H_

#include <cstdint>
#include <memory>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"

// What cudaStream_t and cublasLtHandle_t point at; a program that wants more includes CUDA's
// headers.
struct CUstream_st;
struct cublasLtContext;

namespace pdl {

/// Runs on one NVIDIA GPU: a stream, a cuBLASLt handle and a memory pool, which all Forks share, so
/// that what they launch runs one after the other. Made by CreateDeviceContext; it lives in
/// libpdl_cuda.so, so a program may call only what is inline or virtual.
class PDL_API CUDAContext final : public DeviceContext {
 public:
  static constexpr DeviceKind kKind = DeviceKind::kCUDA;
  /// The GPU of that number, as CUDA_VISIBLE_DEVICES orders them. A DeviceError where there is no
  /// driver, no such GPU, or it is older than what the kernels are compiled for.
  static llvm::Expected<std::unique_ptr<CUDAContext>> Create(int index);

  /// A cudaStream_t. It is made to be captured: nothing here uses the legacy default stream.
  CUstream_st* stream() const { return stream_; }
  /// A cublasLtHandle_t.
  cublasLtContext* cublas() const { return cublas_; }
  int num_multiprocessors() const { return num_multiprocessors_; }

  std::unique_ptr<DeviceContext> Fork() const override;
  /// From the pool, in the order of the stream: memory given back is used again by what is launched
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
