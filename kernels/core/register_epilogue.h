// The epilogue of a kernel that has its results in registers; see RegisterEpilogue.
#ifndef PDL_KERNELS_CORE_REGISTER_EPILOGUE_H_
#define PDL_KERNELS_CORE_REGISTER_EPILOGUE_H_

#include "kernels/core/registers.h"
#include "pdl/op/tile.h"

namespace pdl::simd {

/// Applies the epilogue to a register of results from `column` on.
template <class R, bool kHasBias, RegisterActivation::Kind kActivation>
PDL_INLINE typename R::V ApplyEpilogue(const RegisterEpilogue& epilogue, typename R::V x,
                                       int64_t column) {
  using enum RegisterActivation::Kind;
  if constexpr (kHasBias) x = R::Add(x, R::Load(epilogue.bias + column));
  // Max and Min have the bits of the formulas' comparisons: they return the last operand if one is
  // nan, or both are 0.
  if constexpr (kActivation == kClamp) {
    const auto above = R::Max(R::Set(epilogue.activation.low), x);
    return R::Min(R::Set(epilogue.activation.high), above);
  } else if constexpr (kActivation == kHardSwish) {
    const auto bounded = R::Max(R::Set(-3.0f), x);
    const auto sixth = R::Set(static_cast<float>(1.0 / 6.0));
    const auto slope = R::Add(R::Mul(bounded, sixth), R::Set(0.5f));
    return R::Mul(bounded, R::Min(R::Set(1.0f), R::Max(R::Set(0.0f), slope)));
  } else {
    return x;
  }
}

/// Calls store.operator()<kHasBias, kActivation>() for the epilogue.
template <class Store>
PDL_INLINE void VisitEpilogue(const RegisterEpilogue& epilogue, const Store& store) {
  using enum RegisterActivation::Kind;
  const bool has_bias = epilogue.bias != nullptr;
  switch (epilogue.activation.kind) {
    case kNone:
      return has_bias ? store.template operator()<true, kNone>()
                      : store.template operator()<false, kNone>();
    case kClamp:
      return has_bias ? store.template operator()<true, kClamp>()
                      : store.template operator()<false, kClamp>();
    case kHardSwish:
      return has_bias ? store.template operator()<true, kHardSwish>()
                      : store.template operator()<false, kHardSwish>();
  }
  __builtin_unreachable();
}

}  // namespace pdl::simd

#endif  // PDL_KERNELS_CORE_REGISTER_EPILOGUE_H_
