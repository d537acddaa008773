// Gradient rules whose intermediate values leave the range of f16 although the gradient does not.
#ifndef PDL_KERNELS_CORE_WIDE_GRADIENT_H_
#define PDL_KERNELS_CORE_WIDE_GRADIENT_H_

#include "pdl/op/gradient.h"
#include "pdl/op/op_def.h"

namespace pdl {

/// f32 for 16-bit floats, else the dtype itself.
constexpr DType WideDType(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype;
}

/// Casts `value` to another dtype; null stays null.
Value* CastTo(GradientContext& g, Value* value, DType dtype);
inline Value* Widen(GradientContext& g, Value* value) {
  return value == nullptr ? nullptr : CastTo(g, value, WideDType(value->type().dtype));
}

/// Emits what `rule` emits, computed in f32 where the call is in f16 or bf16.
void EmitWide(GradientContext& g, GradientFunction rule);

/// The gradient rule that calls EmitWide with kRule.
template <GradientFunction kRule>
void InWideDType(GradientContext& g) {
  EmitWide(g, kRule);
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_WIDE_GRADIENT_H_
