// Replaces kernels/core/half_conversion.cuh, which uses instructions of a GPU.
#ifndef PDL_KERNELS_HALF_CONVERSION_CUH_
#define PDL_KERNELS_HALF_CONVERSION_CUH_

#include "pdl/op/half.h"

namespace pdl::cuda {

inline float HalfToFloat(unsigned short bits) {
  float16 half;
  half.bits = bits;
  return static_cast<float>(half);
}
inline unsigned short FloatToHalf(float value) { return float16(value).bits; }
inline unsigned short FloatToBfloat(float value) { return bfloat16(value).bits; }

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_HALF_CONVERSION_CUH_
