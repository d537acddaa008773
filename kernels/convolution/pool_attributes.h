// The attributes of pooling when sizes are known, for every device.
#ifndef PDL_KERNELS_CONVOLUTION_POOL_ATTRIBUTES_H_
#define PDL_KERNELS_CONVOLUTION_POOL_ATTRIBUTES_H_

#include "kernels/convolution/pool_window.h"
#include "kernels/convolution/window_attributes.h"

namespace pdl {

/// Pooling from planes of the operand `whole` to those of `pooled`, with what attributes the
/// operator has of a sliding window; `adaptive` ones need none.
llvm::Expected<PoolWindow> EvaluatePool(const PrepareContext& context,
                                        const AttributeReader& attributes, const OperandType& whole,
                                        const OperandType& pooled, bool adaptive);

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_POOL_ATTRIBUTES_H_
