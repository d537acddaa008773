// Conversions between float16, bfloat16 and float, in forms that compilers can vectorize.
#ifndef PDL_KERNELS_CORE_HALF_H_
#define PDL_KERNELS_CORE_HALF_H_

#include "kernels/core/vector_math.h"

namespace pdl::math {

/// Converts an IEEE binary16 number to float; exact.
PDL_INLINE float HalfToFloat(uint16_t half) {
  // The exponent and mantissa of the binary16 number, read as a float, are its value times 2^-112,
  // also for denormals.
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffu) << 13;
  const uint32_t scaled = detail::Bits(detail::FloatOf(magnitude) * 0x1p112f);
  const uint32_t bits = magnitude >= 0x0f80'0000u ? magnitude | 0x7f80'0000u : scaled;
  return detail::FloatOf(bits | static_cast<uint32_t>(half & 0x8000u) << 16);
}

/// Rounds to the nearest binary16 number, ties to even; overflow becomes infinity, NaN stays NaN.
PDL_INLINE uint16_t FloatToHalf(float value) {
  const uint32_t bits = detail::Bits(value);
  const uint32_t magnitude = bits & 0x7fff'ffffu;
  const uint32_t normal = (magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  // At 0.5, the last bit of a float has the value of the last bit of a denormal binary16 number.
  const uint32_t denormal = detail::Bits(detail::FloatOf(magnitude) + 0.5f) - detail::Bits(0.5f);
  uint32_t half = magnitude < 0x3880'0000u ? denormal : normal;
  half = magnitude >= 0x4780'0000u ? 0x7c00u : half;
  half = magnitude > 0x7f80'0000u ? 0x7e00u : half;
  return static_cast<uint16_t>(half | ((bits >> 16) & 0x8000u));
}

/// Converts a bfloat16 number to float; exact.
PDL_INLINE float BfloatToFloat(uint16_t bfloat) {
  return detail::FloatOf(static_cast<uint32_t>(bfloat) << 16);
}

/// Rounds to the nearest bfloat16 number, ties to even; NaN stays NaN.
PDL_INLINE uint16_t FloatToBfloat(float value) {
  const uint32_t bits = detail::Bits(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7fff'ffffu) > 0x7f80'0000u ? quiet_nan : rounded);
}

}  // namespace pdl::math

#endif  // PDL_KERNELS_CORE_HALF_H_
