// The attributes of pooling when sizes are known, shared by all devices.
#ifndef PDL_KERNELS_CONVOLUTION_POOL_ATTRIBUTES_H_
#define PDL_KERNELS_CONVOLUTION_POOL_ATTRIBUTES_H_

#include "kernels/convolution/pool_window.h"
#include "kernels/convolution/window_attributes.h"

namespace pdl {

/// Pooling from planes of the operand `whole` to those of `pooled`. Reads those attributes of a
/// sliding window that the operator has; if `adaptive`, it needs none.
llvm::Expected<PoolWindow> EvaluatePool(const PrepareContext& context,
                                        const AttributeReader& attributes, const OperandType& whole,
                                        const OperandType& pooled, bool adaptive);

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_POOL_ATTRIBUTES_H_
