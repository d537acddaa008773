// Copies of elements as floats, for kernels that compute halves as floats; memory for packed
// weights.
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

inline int64_t RoundUp(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Copies n elements of one dtype to another; one of the two is f32, the other a half.
void Convert(DType from, const void* in, DType to, void* out, int64_t n, CPUContext& context);

/// Memory that starts at a cache line; a DeviceError where there is none.
llvm::Expected<std::shared_ptr<void>> AllocateAligned(int64_t bytes);

/// The elements of an f32 tensor or of one of halves as floats: its own memory, or a copy.
llvm::Expected<std::shared_ptr<const void>> AsFloats(const Tensor& tensor);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_FLOAT_COPY_H_
