// Module: ir
#ifndef PDL_DTYPE_ENUM_H_
#define PDL_DTYPE_ENUM_H_

#include <cstdint>

namespace pdl {

/// The element type of a tensor. The numbers are part of the NetworkDesc format and never change.
enum class DType : uint8_t {
  kF16 = 1,
  kBF16 = 2,
  kF32 = 3,
  kF64 = 4,
  kI8 = 5,
  kI16 = 6,
  kI32 = 7,
  kI64 = 8,
  kU8 = 9,
  kU16 = 10,
  kU32 = 11,
  kU64 = 12,
  kBool = 13,
};
inline constexpr int kNumDTypes = 14;

/// Predicates over dtypes. A bool is neither a float nor an integer.
constexpr bool IsFloat(DType t) { return t >= DType::kF16 && t <= DType::kF64; }
constexpr bool IsSigned(DType t) { return t >= DType::kI8 && t <= DType::kI64; }
constexpr bool IsUnsigned(DType t) { return t >= DType::kU8 && t <= DType::kU64; }
constexpr bool IsInteger(DType t) { return IsSigned(t) || IsUnsigned(t); }

}  // namespace pdl

#endif  // PDL_DTYPE_ENUM_H_
