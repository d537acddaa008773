// The sizes of a convolution, shared by all devices.
#ifndef PDL_KERNELS_CONVOLUTION_CONV_SIZES_H_
#define PDL_KERNELS_CONVOLUTION_CONV_SIZES_H_

#include "kernels/convolution/sliding_window.h"
#include "pdl/op/operator.h"

namespace pdl {

/// The operand of a convolution that is computed from the other two: y, x, or w.
enum class ConvKind { kForward, kTransposed, kWeights };

/// The sizes of a call of conv*d (kForward: x, w, bias), conv_transpose*d (kTransposed: y, w, bias)
/// or conv_weight_grad (kWeights: x, y).
llvm::Expected<ConvSizes> EvaluateConv(const PrepareContext& context,
                                       const AttributeReader& attributes, ConvKind kind);
/// The same for a convolution with the given operands.
llvm::Expected<ConvSizes> EvaluateConv(const PrepareContext& context,
                                       const AttributeReader& attributes, const OperandType& x,
                                       const OperandType& w, const OperandType& y);

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_CONV_SIZES_H_
