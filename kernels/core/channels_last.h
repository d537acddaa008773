// Forms of operators for operands whose channels are last: [N, H, W, C] in place of [N, C, H, W].
// KeepChannelsLast (ir/passes) makes calls of them.
#ifndef PDL_KERNELS_CORE_CHANNELS_LAST_H_
#define PDL_KERNELS_CORE_CHANNELS_LAST_H_

#include "pdl/op/inference.h"
#include "pdl/op/operator.h"

namespace pdl {

/// The dims of [N, ..., C] as [N, C, ...]; those of less than 3 as they are.
template <class List>
List ChannelsSecond(const List& dims) {
  List result = dims;
  if (dims.size() < 3) return result;
  result[1] = dims.back();
  for (size_t i = 2; i < dims.size(); ++i) result[i] = dims[i - 1];
  return result;
}
/// The way back.
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

/// The inference of a form: that of the operator itself, of its first operand and its result with
/// the channels second.
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
