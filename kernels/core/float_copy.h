// Copies f16 and bf16 elements to f32, for kernels that compute in f32; allocates packed weights.
#ifndef PDL_KERNELS_CORE_FLOAT_COPY_H_
#define PDL_KERNELS_CORE_FLOAT_COPY_H_

#include <cstdint>
#include <memory>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/dtype.h"
#include "pdl/op/tensor.h"

namespace pdl {

inline bool IsHalf(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

/// Copies n elements of one dtype to another; one of the two is f32, the other f16 or bf16.
void Convert(DType from, const void* in, DType to, void* out, int64_t n, CPUContext& context);

/// Allocates memory for a packed weight, aligned to a cache line; the errors are those of
/// AllocateHostMemory.
llvm::Expected<std::shared_ptr<void>> AllocateAligned(int64_t bytes);

/// The elements of an f32, f16 or bf16 tensor as floats: the tensor's own memory if it is f32, else
/// a copy.
llvm::Expected<std::shared_ptr<const void>> AsFloats(const Tensor& tensor);
/// The same for `n` elements from `first` on.
llvm::Expected<std::shared_ptr<const void>> AsFloats(const Tensor& tensor, int64_t first,
                                                     int64_t n);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_FLOAT_COPY_H_
