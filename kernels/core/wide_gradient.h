// Gradient rules whose formulas leave the range of f16 although the gradient does not.
#ifndef PDL_KERNELS_CORE_WIDE_GRADIENT_H_
#define PDL_KERNELS_CORE_WIDE_GRADIENT_H_

#include "pdl/op/gradient.h"
#include "pdl/op/op_def.h"

namespace pdl {

/// f32 for the types of 16 bits, else the type itself.
constexpr DType WideDType(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype;
}

/// `value` in another dtype; null stays null.
Value* CastTo(GradientContext& g, Value* value, DType dtype);
inline Value* Widen(GradientContext& g, Value* value) {
  return value == nullptr ? nullptr : CastTo(g, value, WideDType(value->type().dtype));
}

/// Emits what `rule` does, in f32 where the call is in f16 or bf16.
void EmitWide(GradientContext& g, GradientFunction rule);

/// A rule that does so.
template <GradientFunction kRule>
void InWideDType(GradientContext& g) {
  EmitWide(g, kRule);
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_WIDE_GRADIENT_H_
