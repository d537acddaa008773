// Formulas shared by several families of elementwise operators on the GPU. Each functor takes and
// returns compute types (Element::Compute).
#ifndef PDL_KERNELS_CORE_ELEMENTWISE_CUH_
#define PDL_KERNELS_CORE_ELEMENTWISE_CUH_

#include "kernels/core/elements.cuh"

namespace pdl::cuda {

/// 1 / (1 + exp(-x)), written with the exponential that cannot overflow.
struct Sigmoid {
  __device__ float operator()(float x) const {
    const float e = expf(-fabsf(x));
    return (x < 0 ? e : 1.0f) / (1.0f + e);
  }
  __device__ double operator()(double x) const {
    const double e = exp(-fabs(x));
    return (x < 0 ? e : 1.0) / (1.0 + e);
  }
};

// Integers wrap around: they are computed as unsigned.

struct Neg {
  template <class T>
  __device__ T operator()(T x) const {
    if constexpr (kIsFloat<T>) {
      return -x;
    } else {
      return static_cast<T>(0ull - static_cast<unsigned long long>(x));
    }
  }
};

struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      return a + b;
    } else {
      return static_cast<T>(static_cast<unsigned long long>(a) +
                            static_cast<unsigned long long>(b));
    }
  }
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CORE_ELEMENTWISE_CUH_
