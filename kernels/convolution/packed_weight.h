// Weights of convolutions in the layout of a kernel.
#ifndef PDL_KERNELS_CONVOLUTION_PACKED_WEIGHT_H_
#define PDL_KERNELS_CONVOLUTION_PACKED_WEIGHT_H_

#include <memory>

#include "kernels/core/float_copy.h"
#include "pdl/op/operator.h"

namespace pdl {

/// If operand 1, f32, is constant, its copy in another layout, made once for a network; else null.
/// `pack` writes it to `bytes` bytes; `layout` is the name of the layout.
inline llvm::Expected<std::shared_ptr<const void>> PackConstantWeight(
    const PrepareContext& context, llvm::StringRef layout, int64_t bytes,
    llvm::function_ref<void(const float* w, float* to)> pack) {
  const Tensor* constant = context.constant_input(1);
  if (constant == nullptr) return nullptr;
  return context.Pack(1, layout, [&]() -> llvm::Expected<std::shared_ptr<const void>> {
    llvm::Expected<std::shared_ptr<void>> packed = AllocateAligned(bytes);
    if (!packed) return packed.takeError();
    pack(constant->data<float>(), static_cast<float*>(packed->get()));
    return std::shared_ptr<const void>(std::move(*packed));
  });
}

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_PACKED_WEIGHT_H_
