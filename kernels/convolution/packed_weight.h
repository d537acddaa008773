// Weights of convolutions in the layout of a kernel.
#ifndef PDL_KERNELS_CONVOLUTION_PACKED_WEIGHT_H_
#define PDL_KERNELS_CONVOLUTION_PACKED_WEIGHT_H_

#include <memory>

#include "kernels/core/all_finite.h"
#include "kernels/core/float_copy.h"
#include "pdl/op/operator.h"

namespace pdl {

/// If operand 1, f32, is constant, its copy in another layout, made once for a network; else null.
/// `pack` writes it to `bytes` bytes; `layout` is the name of the layout.
inline llvm::Expected<std::shared_ptr<const void>> PackConstantWeight(
    const PrepareContext& context, llvm::StringRef layout, int64_t bytes,
    llvm::function_ref<void(const float* w, float* to)> pack) {
  if (!context.is_constant(1)) return nullptr;
  return context.Pack(1, layout,
                      [&](const Tensor& weight) -> llvm::Expected<std::shared_ptr<const void>> {
                        llvm::Expected<std::shared_ptr<void>> packed = AllocateAligned(bytes);
                        if (!packed) return packed.takeError();
                        pack(weight.data<float>(), static_cast<float*>(packed->get()));
                        return std::shared_ptr<const void>(std::move(*packed));
                      });
}

/// Whether operand 1 is constant, and all its elements are finite. Its elements are read once.
inline llvm::Expected<bool> IsConstantAndFinite(const PrepareContext& context) {
  if (!context.is_constant(1)) return false;
  auto test = [](const Tensor& weight) -> llvm::Expected<std::shared_ptr<const void>> {
    return std::make_shared<const bool>(AllFinite(weight));
  };
  auto result = context.Pack(1, "is-finite", test);
  if (!result) return result.takeError();
  return *static_cast<const bool*>(result->get());
}

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_PACKED_WEIGHT_H_
