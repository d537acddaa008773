// The formulas of transcendental.cu. No host includes: as elementwise.cuh.
#ifndef PDL_KERNELS_TRANSCENDENTAL_CUH_
#define PDL_KERNELS_TRANSCENDENTAL_CUH_

namespace pdl::cuda {

// A functor that calls the function of that name for doubles, and the one with an f for floats.
#define PDL_CUDA_FUNCTION(Name, function)                                 \
  struct Name {                                                           \
    __device__ float operator()(float x) const { return function##f(x); } \
    __device__ double operator()(double x) const { return function(x); }  \
  }
PDL_CUDA_FUNCTION(Tan, tan);
PDL_CUDA_FUNCTION(Asin, asin);
PDL_CUDA_FUNCTION(Acos, acos);
PDL_CUDA_FUNCTION(Atan, atan);
PDL_CUDA_FUNCTION(Sinh, sinh);
PDL_CUDA_FUNCTION(Cosh, cosh);
PDL_CUDA_FUNCTION(Asinh, asinh);
PDL_CUDA_FUNCTION(Acosh, acosh);
PDL_CUDA_FUNCTION(Atanh, atanh);
PDL_CUDA_FUNCTION(Exp2, exp2);
PDL_CUDA_FUNCTION(Expm1, expm1);
PDL_CUDA_FUNCTION(Log2, log2);
PDL_CUDA_FUNCTION(Log10, log10);
PDL_CUDA_FUNCTION(Log1p, log1p);
PDL_CUDA_FUNCTION(Cbrt, cbrt);
PDL_CUDA_FUNCTION(Erfc, erfc);
#undef PDL_CUDA_FUNCTION

struct Atan2 {
  __device__ float operator()(float y, float x) const { return atan2f(y, x); }
  __device__ double operator()(double y, double x) const { return atan2(y, x); }
};

struct Hypot {
  __device__ float operator()(float x, float y) const { return hypotf(x, y); }
  __device__ double operator()(double x, double y) const { return hypot(x, y); }
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_TRANSCENDENTAL_CUH_
