#include "pdl/op/zero_rule.h"

#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

bool IsZero(const AtZero& operand) { return operand.is_zero(); }

}  // namespace

AtZero ResultAtZero(const Op& op, llvm::ArrayRef<AtZero> operands) {
  const OpProperties& properties = op.def().properties();
  if (properties.is_identity && operands.size() == 1) return ZeroIfFirstIs(op, operands);
  return properties.zero_rule == nullptr ? AtZero() : properties.zero_rule(op, operands);
}

AtZero ZeroIfFirstIs(const Op&, llvm::ArrayRef<AtZero> operands) {
  return AtZero::ZeroIf(operands[0].is_zero());
}

AtZero ZeroIfAnyIs(const Op&, llvm::ArrayRef<AtZero> operands) {
  return AtZero::ZeroIf(llvm::any_of(operands, IsZero));
}

AtZero ZeroIfAllAre(const Op&, llvm::ArrayRef<AtZero> operands) {
  return AtZero::ZeroIf(llvm::all_of(operands, IsZero));
}

AtZero SumAtZero(const Op& op, llvm::ArrayRef<AtZero> operands) {
  AtZero only = AtZero::Zero();
  for (const AtZero& operand : operands) {
    if (operand.is_zero()) continue;
    if (!only.is_zero()) return {};
    only = operand;
  }
  return UnlessBroadcast(op, only);
}

AtZero UnlessBroadcast(const Op& op, const AtZero& operand) {
  const bool has_dims =
      operand.kind != AtZero::Kind::kSame || operand.same->type().dims == op.result()->type().dims;
  return has_dims ? operand : AtZero();
}

}  // namespace pdl
