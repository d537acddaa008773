// The instructions that convert 16-bit floats. Includes no host headers: NVRTC compiles this file,
// too.
#ifndef PDL_KERNELS_CORE_HALF_CONVERSION_CUH_
#define PDL_KERNELS_CORE_HALF_CONVERSION_CUH_

namespace pdl::cuda {

/// Converts from the bits of an IEEE binary16 number.
__device__ __forceinline__ float HalfToFloat(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

/// Rounds to the nearest one, ties to even.
__device__ __forceinline__ unsigned short FloatToHalf(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ __forceinline__ unsigned short FloatToBfloat(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CORE_HALF_CONVERSION_CUH_
