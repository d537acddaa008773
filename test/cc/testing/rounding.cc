#include "test/cc/testing/rounding.h"

#include "llvm/ADT/StringSwitch.h"
#include "pdl/op/op_registry.h"

namespace pdl {

double Epsilon(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    case DType::kF32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

double RoundingOf(llvm::StringRef op) {
  return llvm::StringSwitch<double>(op)
      // The order of the sums depends on whether operands are constant, transposed or few rows.
      .Case("matmul", 8)
      // The same, and Winograd's algorithm (docs/kernels.md), and normalization folded into
      // weights.
      .Cases("conv1d", "conv2d", "conv3d", 32)
      .Default(0);
}

double RoundingOfIsas(llvm::StringRef op) {
  const OpDef* def = GlobalRegistry().Find(op);
  // These give the same bits (docs/kernels.md). Sums have as many partial sums as registers have
  // lanes, and multiply-adds may be fused.
  const bool is_exact =
      def != nullptr && (def->properties().elementwise || def->properties().moves_elements);
  return is_exact ? 0 : 64;
}

bool AddsElements(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("sum", "mean", "moments", "cumsum", "matmul", "einsum", true)
      .Cases("conv1d", "conv2d", "conv3d", true)
      .Cases("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", true)
      .Default(false);
}

}  // namespace pdl
