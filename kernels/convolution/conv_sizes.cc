#include "kernels/convolution/conv_sizes.h"

#include "kernels/convolution/window_attributes.h"

namespace pdl {

llvm::Expected<ConvSizes> EvaluateConv(const PrepareContext& context,
                                       const AttributeReader& attributes, ConvKind kind) {
  const OperandType& first = context.inputs()[0];
  const OperandType& second = context.inputs()[1];
  const OperandType& result = context.outputs()[0];
  const OperandType& x = kind == ConvKind::kTransposed ? result : first;
  const OperandType& w = kind == ConvKind::kWeights ? result : second;
  const OperandType& y = kind == ConvKind::kForward      ? result
                         : kind == ConvKind::kTransposed ? first
                                                         : second;
  return EvaluateConv(context, attributes, x, w, y);
}

llvm::Expected<ConvSizes> EvaluateConv(const PrepareContext& context,
                                       const AttributeReader& attributes, const OperandType& x,
                                       const OperandType& w, const OperandType& y) {
  const auto spatial = [](const OperandType& operand) {
    return llvm::ArrayRef<int64_t>(operand.sizes).drop_front(2);
  };
  llvm::Expected<SlidingWindow> window =
      EvaluateWindow(context, attributes, spatial(w), spatial(x), spatial(y));
  if (!window) return window.takeError();
  ConvSizes sizes;
  sizes.batch = x.sizes[0];
  sizes.groups = attributes.Int("groups");
  sizes.channels = x.sizes[1];
  sizes.features = y.sizes[1];
  sizes.window = *window;
  return sizes;
}

}  // namespace pdl
