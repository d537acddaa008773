// The C++ types of elements: type lists, dispatch from a DType to its type, loading and storing.
#ifndef PDL_KERNELS_CORE_ELEMENT_H_
#define PDL_KERNELS_CORE_ELEMENT_H_

#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/core/half.h"
#include "pdl/op/dtype.h"
#include "pdl/op/error.h"
#include "pdl/op/half.h"

namespace pdl {

template <class... Ts>
struct TypeList {};
template <class T>
struct TypeTag {
  using type = T;
};

using FloatTypes = TypeList<float16, bfloat16, float, double>;
using IntegerTypes = TypeList<int8_t, int32_t, int64_t, uint8_t>;
using NumberTypes = TypeList<float16, bfloat16, float, double, int8_t, int32_t, int64_t, uint8_t>;
using AnyTypes =
    TypeList<float16, bfloat16, float, double, int8_t, int32_t, int64_t, uint8_t, bool>;

// clang-format off
template <class T> inline constexpr DType kDTypeOf = DType{};
template <> inline constexpr DType kDTypeOf<float16> = DType::kF16;
template <> inline constexpr DType kDTypeOf<bfloat16> = DType::kBF16;
template <> inline constexpr DType kDTypeOf<float> = DType::kF32;
template <> inline constexpr DType kDTypeOf<double> = DType::kF64;
template <> inline constexpr DType kDTypeOf<int8_t> = DType::kI8;
template <> inline constexpr DType kDTypeOf<int32_t> = DType::kI32;
template <> inline constexpr DType kDTypeOf<int64_t> = DType::kI64;
template <> inline constexpr DType kDTypeOf<uint8_t> = DType::kU8;
template <> inline constexpr DType kDTypeOf<bool> = DType::kBool;
// clang-format on

/// The DTypeSet of a TypeList: the dtypes that an operator with kernels for these types accepts.
template <class... Ts>
constexpr DTypeSet SetOf(TypeList<Ts...>) {
  return (DTypeSet(kDTypeOf<Ts>) | ...);
}
inline constexpr DTypeSet kFloatSet = SetOf(FloatTypes());
inline constexpr DTypeSet kIntegerSet = SetOf(IntegerTypes());
inline constexpr DTypeSet kNumberSet = SetOf(NumberTypes());
inline constexpr DTypeSet kAnySet = SetOf(AnyTypes());

/// Calls `f(TypeTag<T>())` for the T of the list that has this dtype. A dtype that is not in the
/// list is an internal error.
template <class... Ts, class F>
void VisitDType(TypeList<Ts...>, DType dtype, F f) {
  const bool found =
      ((dtype == kDTypeOf<Ts> ? (static_cast<void>(f(TypeTag<Ts>())), true) : false) || ...);
  if (!found) InternalError("no kernel for elements of " + DTypeName(dtype).str());
}

/// Calls `f` with a zero of an unsigned type of the dtype's size, for kernels that only move
/// elements.
template <class F>
void VisitBits(DType dtype, F f) {
  switch (DTypeSize(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

/// How loops read and write an element; f16 and bf16 are computed as floats.
template <class T>
struct Element {
  using Compute = T;
  static PDL_INLINE T Load(T x) { return x; }
  static PDL_INLINE T Store(T x) { return x; }
};
template <>
struct Element<float16> {
  using Compute = float;
  static PDL_INLINE float Load(float16 x) { return math::HalfToFloat(x.bits); }
  static PDL_INLINE float16 Store(float x) {
    float16 half;
    half.bits = math::FloatToHalf(x);
    return half;
  }
};
template <>
struct Element<bfloat16> {
  using Compute = float;
  static PDL_INLINE float Load(bfloat16 x) { return math::BfloatToFloat(x.bits); }
  static PDL_INLINE bfloat16 Store(float x) {
    bfloat16 half;
    half.bits = math::FloatToBfloat(x);
    return half;
  }
};

template <class T>
using ComputeType = typename Element<T>::Compute;

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_ELEMENT_H_
