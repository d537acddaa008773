#include "kernels/elementwise/binary.cuh"
#include "kernels/elementwise/unary.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

// A functor that calls `function` for doubles, and the function with the suffix f for floats.
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

/// Computed in f64 also for f32: near 0 the sum cancels.
struct LogAddExp {
  __device__ float operator()(float x, float y) const {
    return static_cast<float>((*this)(static_cast<double>(x), static_cast<double>(y)));
  }
  __device__ double operator()(double x, double y) const {
    if (x == y) return x + 0.69314718055994531;
    if (!(x < y || x > y)) return x + y;
    return x < y ? y + log1p(exp(x - y)) : x + log1p(exp(y - x));
  }
};

template <class F>
void AddFunction(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<UnaryOp<F, Floats>>);
}

}  // namespace

void AddTranscendentalKernels(OpRegistry& registry) {
  AddFunction<Tan>(registry, "tan");
  AddFunction<Asin>(registry, "asin");
  AddFunction<Acos>(registry, "acos");
  AddFunction<Atan>(registry, "atan");
  AddFunction<Sinh>(registry, "sinh");
  AddFunction<Cosh>(registry, "cosh");
  AddFunction<Asinh>(registry, "asinh");
  AddFunction<Acosh>(registry, "acosh");
  AddFunction<Atanh>(registry, "atanh");
  AddFunction<Exp2>(registry, "exp2");
  AddFunction<Expm1>(registry, "expm1");
  AddFunction<Log2>(registry, "log2");
  AddFunction<Log10>(registry, "log10");
  AddFunction<Log1p>(registry, "log1p");
  AddFunction<Cbrt>(registry, "cbrt");
  AddFunction<Erfc>(registry, "erfc");
  registry.AddKernel("atan2", DeviceKind::kCUDA, &CreateKernel<BinaryOp<Atan2, Floats>>);
  registry.AddKernel("hypot", DeviceKind::kCUDA, &CreateKernel<BinaryOp<Hypot, Floats>>);
  registry.AddKernel("logaddexp", DeviceKind::kCUDA, &CreateKernel<BinaryOp<LogAddExp, Floats>>);
}

}  // namespace pdl::cuda
