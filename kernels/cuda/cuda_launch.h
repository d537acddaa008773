// Choosing and launching kernels in CUDA operators. For .cu files.
#ifndef PDL_KERNELS_CUDA_CUDA_LAUNCH_H_
#define PDL_KERNELS_CUDA_CUDA_LAUNCH_H_

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "kernels/core/elements.cuh"
#include "kernels/cuda/launch_kernel.h"
#include "llvm/Support/Error.h"
#include "pdl/op/cuda_context.h"
#include "pdl/op/error.h"
#include "pdl/op/operator.h"
#include "runtime/cuda/cuda_error.h"

namespace pdl::cuda {

/// Threads per block, unless a kernel has reasons for another number.
inline constexpr int kBlockThreads = 256;

/// Launches on the context's stream. The arguments are converted to the kernel's parameters.
template <typename... Parameters, typename... Arguments>
llvm::Error Launch(const CUDAContext& context, const char* name, void (*kernel)(Parameters...),
                   dim3 grid, dim3 block, Arguments&&... arguments) {
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  CurrentDevice current(context.device());
  const cudaError_t status = std::apply(
      [&](Parameters&... value) {
        return LaunchKernel<Parameters...>(kernel, grid, block, context.stream(), value...);
      },
      values);
  return ToError(status, name, context.device());
}

/// The grid for a grid-stride loop over n items: enough blocks to fill the GPU a few times over.
/// Requires n > 0.
inline dim3 GridFor(const CUDAContext& context, int64_t n, int64_t per_block = kBlockThreads) {
  const int64_t target = (n + per_block - 1) / per_block;
  const int64_t most = int64_t{context.num_multiprocessors()} * 32;
  return dim3(static_cast<unsigned>(std::clamp<int64_t>(target, 1, most)));
}

/// The number of threads of a block that process one row, so that each has a few elements: a power
/// of two, at most `most`.
inline int ThreadsPerRow(int64_t length, int most = kBlockThreads) {
  int threads = 1;
  while (threads < most && threads * int64_t{4} < length) threads *= 2;
  return threads;
}

template <class... T>
struct TypeList {};
template <class T>
struct TypeTag {
  using Type = T;
};

using Floats = TypeList<Half, Bfloat, float, double>;
using Integers = TypeList<signed char, int, long long, unsigned char>;
using Numbers = TypeList<Half, Bfloat, float, double, signed char, int, long long, unsigned char>;
using AnyElement =
    TypeList<Half, Bfloat, float, double, signed char, int, long long, unsigned char, bool>;
using Bools = TypeList<bool>;

template <class T>
inline constexpr DType kDTypeOf = DType{};
template <>
inline constexpr DType kDTypeOf<Half> = DType::kF16;
template <>
inline constexpr DType kDTypeOf<Bfloat> = DType::kBF16;
template <>
inline constexpr DType kDTypeOf<float> = DType::kF32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kF64;
template <>
inline constexpr DType kDTypeOf<signed char> = DType::kI8;
template <>
inline constexpr DType kDTypeOf<int> = DType::kI32;
template <>
inline constexpr DType kDTypeOf<long long> = DType::kI64;
template <>
inline constexpr DType kDTypeOf<unsigned char> = DType::kU8;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;

template <class... T>
bool Contains(TypeList<T...>, DType dtype) {
  return ((dtype == kDTypeOf<T>) || ...);
}

/// Calls visit(TypeTag<T>()) for the T of the list that has this dtype. A dtype that is not in the
/// list is an internal error: RequireDType has rejected it before.
template <class First, class... Rest, typename Visit>
llvm::Error VisitDType(TypeList<First, Rest...>, DType dtype, Visit&& visit) {
  if (dtype == kDTypeOf<First>) return visit(TypeTag<First>());
  if constexpr (sizeof...(Rest) > 0) {
    return VisitDType(TypeList<Rest...>(), dtype, visit);
  } else {
    InternalError("no CUDA kernel for elements of " + DTypeName(dtype).str());
  }
}

/// Calls visit(Bits()) with an unsigned type of an element's size, for kernels that only move
/// elements.
template <typename Visit>
llvm::Error VisitBits(DType dtype, Visit&& visit) {
  switch (DTypeSize(dtype)) {
    case 1:
      return visit(static_cast<unsigned char>(0));
    case 2:
      return visit(static_cast<unsigned short>(0));
    case 4:
      return visit(0u);
    default:
      return visit(0ull);
  }
}

/// Returns an Error if the list has no element type of this dtype.
template <class... T>
llvm::Error RequireDType(TypeList<T...> types, DType dtype, const OperatorBase& op) {
  if (Contains(types, dtype)) return llvm::Error::success();
  return MakeUserError(Code::kOperandDType, "'{0}' does not take {1} on cuda", op.type(),
                       DTypeName(dtype));
}

/// Whether `pointer` is aligned to `bytes`, a power of two.
inline bool IsAligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_CUDA_LAUNCH_H_
