// The formulas of the elementwise operators on the GPU. No host includes: nvcc compiles this into
// the kernels, and its text serves NVRTC. Each functor takes and gives compute types
// (Element::Compute).
#ifndef PDL_KERNELS_ELEMENTWISE_CUH_
#define PDL_KERNELS_ELEMENTWISE_CUH_

#include "kernels/elements.cuh"

namespace pdl::cuda {

// --- One operand ------------------------------------------------------------------------------

struct Cos {
  double scale;
  __device__ float operator()(float x) const { return static_cast<float>(scale) * cosf(x); }
  __device__ double operator()(double x) const { return scale * cos(x); }
};

struct Sin {
  double scale;
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

/// 1 / (1 + exp(-x)), by the exponential that cannot overflow.
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

/// max(x, 0); NaN stays.
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

/// Wraps around where the result does not fit.
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

/// Wraps around where the result does not fit.
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

/// -1, 0 or 1; NaN stays.
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

/// To the nearest integer, to the even one of two.
struct Round {
  __device__ float operator()(float x) const { return rintf(x); }
  __device__ double operator()(double x) const { return rint(x); }
};

struct IsNan {
  template <class T>
  __device__ bool operator()(T x) const {
    return x != x;
  }
};

struct IsInf {
  template <class T>
  __device__ bool operator()(T x) const {
    return x == x && x - x != T(0);
  }
};

struct IsFinite {
  template <class T>
  __device__ bool operator()(T x) const {
    return x - x == T(0);
  }
};

struct LogicalNot {
  __device__ bool operator()(bool x) const { return !x; }
};

// --- Two operands -----------------------------------------------------------------------------
// Integers wrap around: they are computed without a sign.

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

/// The larger one; NaN where one is NaN.
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

/// Rounds down. Integers: 0 where b is 0, and the smallest number divided by -1 stays.
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
  // As Python: derived from the remainder, which is exact.
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

/// a - b * floor(a / b): has the sign of b. Integers: 0 where b is 0.
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

/// a - b * trunc(a / b): has the sign of a. Integers: 0 where b is 0.
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

/// Integers wrap around; to a negative power they are 1 / a^n rounded towards zero (0 for a = 0).
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

struct Equal {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqual {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a != b;
  }
};

struct Less {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqual {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct LogicalAnd {
  __device__ bool operator()(bool a, bool b) const { return a && b; }
};

struct LogicalOr {
  __device__ bool operator()(bool a, bool b) const { return a || b; }
};

struct LogicalXor {
  __device__ bool operator()(bool a, bool b) const { return a != b; }
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_ELEMENTWISE_CUH_
