#include "runtime/fused_epilogue.h"

namespace pdl {
namespace {

/// Whether an operand has an element for each element of the result's last dim.
bool IsBias(const OperandType& operand, llvm::ArrayRef<int64_t> result_sizes) {
  return !operand.sizes.empty() && operand.sizes.back() == result_sizes.back() &&
         operand.num_elements() == result_sizes.back();
}

}  // namespace

AbsorbedEpilogue FindAbsorbedEpilogue(llvm::ArrayRef<FusedInstruction> instructions,
                                      llvm::ArrayRef<size_t> last_use,
                                      llvm::ArrayRef<OperandType> inputs,
                                      llvm::ArrayRef<int64_t> result_sizes) {
  AbsorbedEpilogue found;
  // The only reader of the last result, or null.
  const auto next = [&]() -> const FusedInstruction* {
    const size_t index = found.last + 1;
    const FusedInstruction& from = instructions[found.last];
    const bool is_read_once = from.output < 0 && last_use[found.last] == index;
    return from.dtype == DType::kF32 && is_read_once ? &instructions[index] : nullptr;
  };
  const FusedInstruction* instruction = next();
  if (instruction != nullptr && instruction->tile.is_sum) {
    for (const FusedInstruction::Operand& operand : instruction->operands)
      if (operand.external && IsBias(inputs[operand.index], result_sizes))
        found.bias = static_cast<int>(operand.index);
    if (found.bias < 0) return found;
    ++found.last;
    instruction = next();
  }
  if (instruction == nullptr ||
      instruction->tile.activation.kind == RegisterActivation::Kind::kNone)
    return found;
  ++found.last;
  found.epilogue.activation = instruction->tile.activation;
  return found;
}

}  // namespace pdl
