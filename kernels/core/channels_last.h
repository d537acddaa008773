// Variants of operators that take their operands channels last: [N, H, W, C] instead of [N, C, H,
// W]. The pass KeepChannelsLast (ir/passes) emits calls of them.
#ifndef PDL_KERNELS_CORE_CHANNELS_LAST_H_
#define PDL_KERNELS_CORE_CHANNELS_LAST_H_

#include "pdl/op/inference.h"
#include "pdl/op/operator.h"

namespace pdl {

/// The dims [N, ..., C] reordered to [N, C, ...]; fewer than 3 dims are returned unchanged.
template <class List>
List ChannelsSecond(const List& dims) {
  List result = dims;
  if (dims.size() < 3) return result;
  result[1] = dims.back();
  for (size_t i = 2; i < dims.size(); ++i) result[i] = dims[i - 1];
  return result;
}
/// The inverse: [N, C, ...] reordered to [N, ..., C].
template <class List>
List ChannelsLast(const List& dims) {
  List result = dims;
  if (dims.size() < 3) return result;
  for (size_t i = 2; i < dims.size(); ++i) result[i - 1] = dims[i];
  result.back() = dims[1];
  return result;
}
inline OperandType ChannelsSecond(const OperandType& operand) {
  return {operand.dtype, ChannelsSecond(operand.sizes)};
}

/// The inference of a channels-last variant: runs the operator's own inference with the channels of
/// the first operand moved to axis 1, and moves those of the result back.
template <InferFunction kInfer>
llvm::Error InferChannelsLast(InferenceContext& context) {
  Type x = context.input(0);
  x.dims = ChannelsSecond(x.dims);
  llvm::SmallVector<const Type*, 4> operands = {&x};
  for (unsigned i = 1; i < context.num_inputs(); ++i) operands.push_back(&context.input(i));
  InferenceContext second(context.def(), operands, context.attributes().values());
  if (llvm::Error error = kInfer(second)) return error;
  for (const DimCheck& check : second.TakeChecks()) {
    llvm::Error error = check.relation == DimCheck::Relation::kEqual
                            ? context.RequireEqual(check.left, check.right, {}, check.message)
                            : context.RequireAtLeast(check.left, check.right, {}, check.message);
    if (error) return error;
  }
  Type y = second.outputs()[0];
  y.dims = ChannelsLast(y.dims);
  context.SetOutput(std::move(y));
  return llvm::Error::success();
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_CHANNELS_LAST_H_
