// The 16-bit floating-point element types; arithmetic on them is done in float.
// Module: ir
#ifndef PDL_OP_HALF_H_
#define PDL_OP_HALF_H_

#include <bit>
#include <cstdint>

namespace pdl {

/// IEEE 754 binary16. Conversion from float rounds to nearest even; NaN stays NaN.
struct float16 {
  uint16_t bits = 0;

  float16() = default;
  explicit float16(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    uint32_t sign = f >> 16 & 0x8000u;
    uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      bits = static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    } else if (magnitude >= 0x477ff000u) {  // rounds to 65536 or more
      bits = static_cast<uint16_t>(sign | 0x7c00u);
    } else if (magnitude < 0x38800000u) {  // subnormal: let the float adder round
      float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    } else {
      uint32_t odd = magnitude >> 13 & 1u;
      bits = static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
    }
  }
  explicit operator float() const {
    uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    uint32_t exponent = bits >> 10 & 0x1fu;
    uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0) {
      float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
    }
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  }
};

/// The upper half of a float ("brain" float). Rounds to nearest even; NaN stays NaN.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  explicit bfloat16(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>(f >> 16 | 0x40u);
    } else {
      bits = static_cast<uint16_t>((f + 0x7fffu + (f >> 16 & 1u)) >> 16);
    }
  }
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

}  // namespace pdl

#endif  // PDL_OP_HALF_H_
