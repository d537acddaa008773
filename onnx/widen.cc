#include "onnx/widen.h"

#include "llvm/ADT/StringSwitch.h"

namespace pdl {
namespace {

/// Operators whose results have the same low bits whichever sign the operands have.
bool IsModular(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("add", "sub", "mul", "neg", "sum", "prod", "cumsum", "matmul", true)
      .Cases("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "shift_left", true)
      .Cases("equal", "not_equal", "where", "concat", "write", "tril", "triu", true)
      .Default(false);
}

/// Operators that look for nothing but the order of elements.
bool IsOfOrder(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("less", "less_equal", "greater", "greater_equal", "maximum", "minimum", true)
      .Cases("max", "min", "argmax", "argmin", "argsort", "topk", "sort", true)
      .Default(false);
}

}  // namespace

std::optional<Widening> WidenFor(llvm::StringRef op, DType dtype, DTypeSet accepted) {
  auto first = [&](std::initializer_list<DType> candidates) -> std::optional<Widening> {
    for (const DType candidate : candidates)
      if (accepted.Contains(candidate)) return Widening{candidate};
    return std::nullopt;
  };
  switch (dtype) {
    case DType::kI8:
    case DType::kU8:
    case DType::kI16:
    case DType::kU16:
      return first({DType::kI32, DType::kI64});
    case DType::kU32:
    case DType::kI32:
      return first({DType::kI64});
    case DType::kU64:
      if (!accepted.Contains(DType::kI64) || !(IsModular(op) || IsOfOrder(op))) return std::nullopt;
      return Widening{DType::kI64, IsOfOrder(op)};
    case DType::kF16:
    case DType::kBF16:
      return first({DType::kF32});
    default:
      return std::nullopt;
  }
}

bool HasDTypeOfOperands(llvm::StringRef op, size_t result) {
  return result == 0 && llvm::StringSwitch<bool>(op)
                            .Cases("argmax", "argmin", "argsort", "count_nonzero", "nonzero", false)
                            .Default(true);
}

}  // namespace pdl
