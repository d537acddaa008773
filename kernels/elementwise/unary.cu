#include "kernels/elementwise/unary.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

struct Cos {
  double scale;
  void Initialize(const AttributeReader& attributes) { scale = attributes.Float("scale"); }
  __device__ float operator()(float x) const { return static_cast<float>(scale) * cosf(x); }
  __device__ double operator()(double x) const { return scale * cos(x); }
};

struct Sin {
  double scale;
  void Initialize(const AttributeReader& attributes) { scale = attributes.Float("scale"); }
  __device__ float operator()(float x) const { return static_cast<float>(scale) * sinf(x); }
  __device__ double operator()(double x) const { return scale * sin(x); }
};

struct Exp {
  __device__ float operator()(float x) const { return expf(x); }
  __device__ double operator()(double x) const { return exp(x); }
};

struct Log {
  __device__ float operator()(float x) const { return logf(x); }
  __device__ double operator()(double x) const { return log(x); }
};

struct Sqrt {
  __device__ float operator()(float x) const { return sqrtf(x); }
  __device__ double operator()(double x) const { return sqrt(x); }
};

struct Tanh {
  __device__ float operator()(float x) const { return tanhf(x); }
  __device__ double operator()(double x) const { return tanh(x); }
};

/// max(x, 0); NaN stays NaN.
struct Relu {
  template <class T>
  __device__ T operator()(T x) const {
    if constexpr (kIsSigned<T>) {
      return x < T(0) ? T(0) : x;
    } else {
      return x;
    }
  }
};

/// The smallest integer is returned unchanged.
struct Abs {
  __device__ float operator()(float x) const { return fabsf(x); }
  __device__ double operator()(double x) const { return fabs(x); }
  template <class T>
  __device__ T operator()(T x) const {
    if constexpr (kIsSigned<T>) {
      return x < T(0) ? Neg()(x) : x;
    } else {
      return x;
    }
  }
};

/// Integers wrap around.
struct Square {
  template <class T>
  __device__ T operator()(T x) const {
    if constexpr (kIsFloat<T>) {
      return x * x;
    } else {
      return static_cast<T>(static_cast<unsigned long long>(x) *
                            static_cast<unsigned long long>(x));
    }
  }
};

struct Erf {
  __device__ float operator()(float x) const { return erff(x); }
  __device__ double operator()(double x) const { return erf(x); }
};

struct Reciprocal {
  template <class T>
  __device__ T operator()(T x) const {
    return T(1) / x;
  }
};

struct Rsqrt {
  __device__ float operator()(float x) const { return 1.0f / sqrtf(x); }
  __device__ double operator()(double x) const { return 1.0 / sqrt(x); }
};

/// -1, 0 or 1; NaN stays NaN.
struct Sign {
  template <class T>
  __device__ T operator()(T x) const {
    if constexpr (kIsSigned<T>) {
      return x == x ? static_cast<T>((x > T(0)) - (x < T(0))) : x;
    } else {
      return x > T(0) ? T(1) : T(0);
    }
  }
};

struct Floor {
  __device__ float operator()(float x) const { return floorf(x); }
  __device__ double operator()(double x) const { return floor(x); }
};

struct Ceil {
  __device__ float operator()(float x) const { return ceilf(x); }
  __device__ double operator()(double x) const { return ceil(x); }
};

struct Trunc {
  __device__ float operator()(float x) const { return truncf(x); }
  __device__ double operator()(double x) const { return trunc(x); }
};

/// Rounds to the nearest integer, ties to even.
struct Round {
  __device__ float operator()(float x) const { return rintf(x); }
  __device__ double operator()(double x) const { return rint(x); }
};

template <class F, class Types>
void AddUnary(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<UnaryOp<F, Types>>);
}

}  // namespace

void AddUnaryKernels(OpRegistry& registry) {
  AddUnary<Cos, Floats>(registry, "cos");
  AddUnary<Sin, Floats>(registry, "sin");
  AddUnary<Exp, Floats>(registry, "exp");
  AddUnary<Log, Floats>(registry, "log");
  AddUnary<Sqrt, Floats>(registry, "sqrt");
  AddUnary<Tanh, Floats>(registry, "tanh");
  AddUnary<Sigmoid, Floats>(registry, "sigmoid");
  AddUnary<Relu, Numbers>(registry, "relu");
  AddUnary<Neg, Numbers>(registry, "neg");
  AddUnary<Abs, Numbers>(registry, "abs");
  AddUnary<Square, Numbers>(registry, "square");
  AddUnary<Erf, Floats>(registry, "erf");
  AddUnary<Reciprocal, Floats>(registry, "reciprocal");
  AddUnary<Rsqrt, Floats>(registry, "rsqrt");
  AddUnary<Sign, Numbers>(registry, "sign");
  AddUnary<Floor, Floats>(registry, "floor");
  AddUnary<Ceil, Floats>(registry, "ceil");
  AddUnary<Trunc, Floats>(registry, "trunc");
  AddUnary<Round, Floats>(registry, "round");
}

}  // namespace pdl::cuda
