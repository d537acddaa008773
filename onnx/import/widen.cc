#include "onnx/import/widen.h"

namespace pdl {

std::optional<Widening> WidenFor(IntegerWidening rule, DType dtype, DTypeSet accepted) {
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
      if (!accepted.Contains(DType::kI64) || rule == IntegerWidening::kNone) return std::nullopt;
      return Widening{DType::kI64, rule == IntegerWidening::kOrder};
    case DType::kF16:
    case DType::kBF16:
      return first({DType::kF32});
    default:
      return std::nullopt;
  }
}

}  // namespace pdl
