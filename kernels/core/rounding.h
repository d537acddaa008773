// Division and rounding of sizes, on all devices.
#ifndef PDL_KERNELS_CORE_ROUNDING_H_
#define PDL_KERNELS_CORE_ROUNDING_H_

#include <cstdint>

#ifdef __CUDACC__
#define PDL_ROUNDING_FUNCTION __host__ __device__ __forceinline__
#else
#define PDL_ROUNDING_FUNCTION inline
#endif

namespace pdl {

/// n / divisor rounded up, for n >= 0, without overflow.
PDL_ROUNDING_FUNCTION int64_t DivideUp(int64_t n, int64_t divisor) {
  return n / divisor + static_cast<int64_t>(n % divisor != 0);
}

/// The smallest multiple of `multiple` that is at least n, for n >= 0.
PDL_ROUNDING_FUNCTION int64_t RoundUp(int64_t n, int64_t multiple) {
  return DivideUp(n, multiple) * multiple;
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_ROUNDING_H_
