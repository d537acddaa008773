#include "kernels/elementwise/unary.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {

template <>
inline constexpr DType kDTypeOf<short> = DType::kI16;
template <>
inline constexpr DType kDTypeOf<unsigned short> = DType::kU16;
template <>
inline constexpr DType kDTypeOf<unsigned> = DType::kU32;
template <>
inline constexpr DType kDTypeOf<unsigned long long> = DType::kU64;

namespace {

/// Includes the dtypes that no operator computes with, so that they can be cast to one that is
/// supported.
using StoredElement = TypeList<Half, Bfloat, float, double, signed char, short, int, long long,
                               unsigned char, unsigned short, unsigned, unsigned long long, bool>;

/// Rounds x to a float toward 0, and sets the last bit if that is inexact (round to odd): rounding
/// the result to f16 or bf16 is then the same as rounding x directly.
__device__ __forceinline__ float RoundToOdd(double x) {
  const float shorter = __double2float_rz(x);
  if (static_cast<double>(shorter) == x || x != x) return shorter;
  return __uint_as_float(__float_as_uint(shorter) | 1u);
}

/// Numbers out of range of i32 (for results of up to 32 bits) or i64 become the smallest integer;
/// shorter integers take the low bits. A u32 or u64 in range is converted exactly.
template <class Out, class T>
__device__ __forceinline__ Out RealToInteger(T x) {
  if constexpr (sizeof(Out) == 8 || kIsSame<Out, unsigned>) {
    constexpr T kEnd = T(9223372036854775808.0);
    if constexpr (kIsSame<Out, unsigned long long>) {
      if (x >= kEnd && x < 2 * kEnd) return static_cast<Out>(x);
    }
    const long long wide =
        x >= -kEnd && x < kEnd ? static_cast<long long>(x) : -9223372036854775807ll - 1;
    return static_cast<Out>(wide);
  } else {
    constexpr T kEnd = T(2147483648.0);
    // Numbers between -2^31 - 1 and -2^31 are rounded toward 0 to the latter.
    const bool fits = (sizeof(T) == 8 ? x > -kEnd - T(1) : x >= -kEnd) && x < kEnd;
    return static_cast<Out>(fits ? static_cast<int>(x) : -2147483647 - 1);
  }
}

/// Converts from a compute type to elements of type Out.
template <class Out>
struct Convert {
  template <class T>
  __device__ ComputeType<Out> operator()(T x) const {
    constexpr bool kToHalf = !kIsSame<ComputeType<Out>, Out>;
    if constexpr (kIsSame<Out, bool>) {
      return x != T(0);
    } else if constexpr (kToHalf && sizeof(T) >= 4 && !kIsSame<T, float>) {
      return RoundToOdd(static_cast<double>(x));
    } else if constexpr (kIsFloat<T> && !kIsFloat<ComputeType<Out>>) {
      return RealToInteger<Out>(x);
    } else {
      return static_cast<ComputeType<Out>>(x);
    }
  }
};

class CastOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const DType from = context.inputs()[0].dtype, to = context.outputs()[0].dtype;
    if (auto error = RequireDType(StoredElement(), from, *this)) return error;
    if (auto error = RequireDType(StoredElement(), to, *this)) return error;
    Preparation preparation;
    if (from == to) preparation.aliases.push_back({0, 0});
    if (DTypeSize(from) == DTypeSize(to)) preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return VisitDType(StoredElement(), inputs[0]->dtype(), [&](auto from) {
      return VisitDType(StoredElement(), outputs[0]->dtype(), [&](auto to) -> llvm::Error {
        using In = typename decltype(from)::Type;
        using Out = typename decltype(to)::Type;
        if constexpr (kIsSame<In, Out>) {
          return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
        } else {
          return LaunchUnary<Out, In>(context, type().c_str(), Convert<Out>(), *inputs[0],
                                      *outputs[0]);
        }
      });
    });
  }
};

}  // namespace

void AddCastKernels(OpRegistry& registry) {
  registry.AddKernel("cast", DeviceKind::kCUDA, &CreateKernel<CastOp>);
}

}  // namespace pdl::cuda
