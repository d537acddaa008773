#include "kernels/elementwise/binary.cuh"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

// Integers wrap around: they are computed as unsigned.

struct Sub {
  template <class T>
  __device__ T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      return a - b;
    } else {
      return static_cast<T>(static_cast<unsigned long long>(a) -
                            static_cast<unsigned long long>(b));
    }
  }
};

struct Mul {
  template <class T>
  __device__ T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      return a * b;
    } else {
      return static_cast<T>(static_cast<unsigned long long>(a) *
                            static_cast<unsigned long long>(b));
    }
  }
};

struct Div {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a / b;
  }
};

/// The larger one; NaN if either is NaN.
struct Maximum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

struct Minimum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

/// Rounds down. For integers: 0 if b is 0; the smallest integer divided by -1 is itself.
struct FloorDiv {
  __device__ float operator()(float a, float b) const { return Real(a, b); }
  __device__ double operator()(double a, double b) const { return Real(a, b); }
  template <class T>
  __device__ T operator()(T a, T b) const {
    if (b == T(0)) return T(0);
    if constexpr (kIsSigned<T>) {
      if (b == T(-1)) return Neg()(a);
      const T quotient = static_cast<T>(a / b);
      const bool inexact = static_cast<T>(quotient * b) != a;
      return static_cast<T>(quotient - (inexact && (a < 0) != (b < 0) ? 1 : 0));
    } else {
      return static_cast<T>(a / b);
    }
  }

 private:
  // As in Python: computed from the remainder, which is exact.
  template <class T>
  static __device__ T Real(T a, T b) {
    if (b == T(0)) return a / b;
    T remainder = fmod(a, b);
    T quotient = (a - remainder) / b;
    if (remainder != T(0) && (b < T(0)) != (remainder < T(0))) quotient -= T(1);
    if (quotient == T(0)) return copysign(T(0), a / b);
    T rounded = floor(quotient);
    if (quotient - rounded > T(0.5)) rounded += T(1);
    return rounded;
  }
};

/// a - b * floor(a / b): has the sign of b. For integers: 0 if b is 0.
struct Mod {
  __device__ float operator()(float a, float b) const { return Real(a, b); }
  __device__ double operator()(double a, double b) const { return Real(a, b); }
  template <class T>
  __device__ T operator()(T a, T b) const {
    if (b == T(0)) return T(0);
    if constexpr (kIsSigned<T>) {
      if (b == T(-1)) return T(0);
      const T remainder = static_cast<T>(a % b);
      return remainder != 0 && (remainder < 0) != (b < 0) ? static_cast<T>(remainder + b)
                                                          : remainder;
    } else {
      return static_cast<T>(a % b);
    }
  }

 private:
  template <class T>
  static __device__ T Real(T a, T b) {
    const T remainder = fmod(a, b);
    if (remainder == T(0)) return copysign(T(0), b);
    return (remainder < T(0)) != (b < T(0)) ? remainder + b : remainder;
  }
};

/// a - b * trunc(a / b): has the sign of a. For integers: 0 if b is 0.
struct Fmod {
  __device__ float operator()(float a, float b) const { return fmodf(a, b); }
  __device__ double operator()(double a, double b) const { return fmod(a, b); }
  template <class T>
  __device__ T operator()(T a, T b) const {
    if (b == T(0)) return T(0);
    if constexpr (kIsSigned<T>) {
      if (b == T(-1)) return T(0);
    }
    return static_cast<T>(a % b);
  }
};

/// Integers wrap around; a negative power -n of one is 1 / a^n rounded toward zero (0 for a = 0).
struct Pow {
  __device__ float operator()(float a, float b) const { return powf(a, b); }
  __device__ double operator()(double a, double b) const { return pow(a, b); }
  template <class T>
  __device__ T operator()(T a, T b) const {
    if constexpr (kIsSigned<T>) {
      if (b < T(0)) return a == T(1) ? T(1) : a == T(-1) ? (b & 1 ? T(-1) : T(1)) : T(0);
    }
    unsigned long long base = static_cast<unsigned long long>(a);
    unsigned long long exponent = static_cast<unsigned long long>(b);
    unsigned long long result = 1;
    for (; exponent != 0; exponent >>= 1) {
      if (exponent & 1) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  }
};

template <class F, class Types>
void AddBinary(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<BinaryOp<F, Types>>);
}

}  // namespace

void AddBinaryKernels(OpRegistry& registry) {
  AddBinary<Add, Numbers>(registry, "add");
  AddBinary<Sub, Numbers>(registry, "sub");
  AddBinary<Mul, Numbers>(registry, "mul");
  AddBinary<Div, Floats>(registry, "div");
  AddBinary<Maximum, Numbers>(registry, "maximum");
  AddBinary<Minimum, Numbers>(registry, "minimum");
  AddBinary<Pow, Numbers>(registry, "pow");
  AddBinary<FloorDiv, Numbers>(registry, "floor_div");
  AddBinary<Mod, Numbers>(registry, "mod");
  AddBinary<Fmod, Numbers>(registry, "fmod");
}

}  // namespace pdl::cuda
