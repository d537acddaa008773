// Products of matrices by cuBLASLt.
#ifndef PDL_KERNELS_CUDA_CUBLAS_GEMM_H_
#define PDL_KERNELS_CUDA_CUBLAS_GEMM_H_

#include <cstdint>
#include <memory>

#include "llvm/Support/Error.h"
#include "pdl/op/cuda_context.h"
#include "pdl/op/dtype.h"

namespace pdl::cuda {

/// c[i] = a[i] b[i] for i in [0, batch): dense row-major matrices, m by k, k by n and m by n, the
/// first two stored the other way round where `transpose` says so. Strides, in elements, lead from
/// one matrix to the next; 0 uses one matrix for all. No size is 0.
struct GemmProblem {
  DType dtype = DType::kF32;  // one of the floating-point types
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1;
  int64_t a_stride = 0, b_stride = 0, c_stride = 0;
};

/// A product prepared for its sizes: the algorithms are chosen when it is made. Halves are added up
/// in f32, f32 without TF32.
class CublasGemm {
 public:
  /// Null where cuBLASLt has no algorithm for it.
  static llvm::Expected<std::unique_ptr<CublasGemm>> Create(const CUDAContext& context,
                                                            const GemmProblem& problem);
  ~CublasGemm();

  /// Scratch memory that Run needs.
  int64_t workspace_bytes() const;
  /// Launches it.
  llvm::Error Run(const CUDAContext& context, const void* a, const void* b, void* c,
                  void* workspace) const;

 private:
  struct Impl;
  explicit CublasGemm(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_CUBLAS_GEMM_H_
