#include "kernels/elementwise/binary.cuh"
#include "kernels/elementwise/unary.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

using Bits = TypeList<signed char, int, long long, unsigned char, bool>;

struct BitAnd {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct BitNot {
  __device__ bool operator()(bool x) const { return !x; }
  template <class T>
  __device__ T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

/// 0 if the shift count is negative or at least the number of bits.
struct ShiftLeft {
  template <class T>
  __device__ T operator()(T x, T shift) const {
    const unsigned long long count = static_cast<unsigned long long>(shift);
    if (count >= sizeof(T) * 8) return T(0);
    return static_cast<T>(static_cast<unsigned long long>(x) << count);
  }
};

/// Copies of the sign bit if the shift count is negative or at least the number of bits.
struct ShiftRight {
  template <class T>
  __device__ T operator()(T x, T shift) const {
    const unsigned long long count = static_cast<unsigned long long>(shift);
    if (count < sizeof(T) * 8) return static_cast<T>(x >> count);
    if constexpr (kIsSigned<T>) {
      return x < T(0) ? T(-1) : T(0);
    } else {
      return T(0);
    }
  }
};

template <class F, class Types>
void AddBitwise(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<BinaryOp<F, Types>>);
}

}  // namespace

void AddBitwiseKernels(OpRegistry& registry) {
  AddBitwise<BitAnd, Bits>(registry, "bitwise_and");
  AddBitwise<BitOr, Bits>(registry, "bitwise_or");
  AddBitwise<BitXor, Bits>(registry, "bitwise_xor");
  registry.AddKernel("bitwise_not", DeviceKind::kCUDA, &CreateKernel<UnaryOp<BitNot, Bits>>);
  AddBitwise<ShiftLeft, Integers>(registry, "shift_left");
  AddBitwise<ShiftRight, Integers>(registry, "shift_right");
}

}  // namespace pdl::cuda
