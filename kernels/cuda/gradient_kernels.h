// Kernels that add gradients. For sources of libpdl_cuda.so.
#ifndef PDL_KERNELS_CUDA_GRADIENT_KERNELS_H_
#define PDL_KERNELS_CUDA_GRADIENT_KERNELS_H_

#include "llvm/Support/Error.h"
#include "pdl/op/cuda_context.h"
#include "pdl/op/tensor.h"

namespace pdl::cuda {

// See DeviceRanks. There is at least one element. The first two run on the context's stream.
llvm::Error WeighGradient(const CUDAContext& context, const Tensor& from, double weight,
                          void* sums);
llvm::Error DivideGradient(const CUDAContext& context, const void* sums, double count, Tensor& to);
llvm::Error AddGradients(const CUDAContext& context, CUstream_st* stream, DType dtype,
                         const void* left, const void* right, size_t count, void* sums);

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_GRADIENT_KERNELS_H_
