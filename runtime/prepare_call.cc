#include "runtime/prepare_call.h"

#include "ir/operator_code.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

llvm::Error CheckPreparation(const OperatorBase& op, const Preparation& made,
                             const PrepareContext& context) {
  const size_t num_inputs = context.inputs().size(), num_outputs = context.outputs().size();
  const auto exists = [&](std::pair<unsigned, unsigned> pair) {
    return pair.first < num_outputs && pair.second < num_inputs;
  };
  const auto wrong = [&](llvm::StringRef what) {
    return MakeUserError(Code::kOperatorUse, "its Preparation has {0} (inputs: {1}, outputs: {2})",
                         what, num_inputs, num_outputs);
  };
  if (!llvm::all_of(made.aliases, exists))
    return wrong("an alias whose output or input does not exist");
  if (!llvm::all_of(made.in_place, exists))
    return wrong("an in_place pair whose output or input does not exist");
  if (llvm::any_of(made.packed, [&](unsigned input) { return input >= num_inputs; }))
    return wrong("a packed input that does not exist");
  if (made.workspace_bytes < 0) return wrong("a workspace of a negative size");
  if (!op.def().is_external()) return llvm::Error::success();
  for (const auto& [output, input] : made.in_place) {
    const OperandType &to = context.outputs()[output], &from = context.inputs()[input];
    if (DTypeSize(to.dtype) != DTypeSize(from.dtype) || to.num_elements() != from.num_elements())
      return wrong("an in_place pair with different numbers of bytes");
  }
  return llvm::Error::success();
}

}  // namespace

llvm::Expected<Preparation> PrepareCall(const OperatorBase& op, const PrepareContext& context) {
  return ConvertExceptions(
      [&]() -> llvm::Expected<Preparation> {
        llvm::Expected<Preparation> made = op.Prepare(context);
        if (!made) return made;
        if (llvm::Error error = CheckPreparation(op, *made, context)) return error;
        return made;
      },
      [](const char* what) {
        return MakeUserError(Code::kOperatorUse, "its Prepare failed: {0}", what);
      });
}

llvm::Error KernelThrew(const char* what) {
  return MakeUserError(Code::kOperatorUse, "its kernel failed: {0}", what);
}

}  // namespace pdl
