// Matmul by cuBLASLt.
#ifndef PDL_KERNELS_CUDA_CUBLAS_GEMM_H_
#define PDL_KERNELS_CUDA_CUBLAS_GEMM_H_

#include <cstdint>
#include <memory>

#include "llvm/Support/Error.h"
#include "pdl/op/cuda_context.h"
#include "pdl/op/dtype.h"

namespace pdl::cuda {

/// c[i] = a[i] b[i] for i in [0, batch): dense row-major matrices, m by k, k by n and m by n; a and
/// b are stored transposed if transpose_a and transpose_b are set. Strides, in elements, are the
/// distances from one matrix to the next; 0 uses one matrix for all. No size is 0.
struct GemmProblem {
  DType dtype = DType::kF32;  // one of the floating-point types
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1;
  int64_t a_stride = 0, b_stride = 0, c_stride = 0;
};

/// A matmul prepared for its sizes: the algorithms are chosen when it is created. f16 and bf16
/// accumulate in f32, f32 does not use TF32.
class CublasGemm {
 public:
  /// Returns null if cuBLASLt has no algorithm for the problem.
  static llvm::Expected<std::unique_ptr<CublasGemm>> Create(const CUDAContext& context,
                                                            const GemmProblem& problem);
  ~CublasGemm();

  /// The size of the scratch memory that Run needs.
  int64_t workspace_bytes() const;
  /// Launches the matmul.
  llvm::Error Run(const CUDAContext& context, const void* a, const void* b, void* c,
                  void* workspace) const;

 private:
  struct Impl;
  explicit CublasGemm(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_CUBLAS_GEMM_H_
