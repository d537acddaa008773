#include "kernels/cuda/gradient_kernels.h"

#include "kernels/cuda/cuda_launch.h"

namespace pdl::cuda {
namespace {

/// The type in which elements are added.
template <class T>
using SumType = ComputeType<T>;

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    WeighKernel(const T* from, SumType<T> weight, SumType<T>* to, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < count; i += step) to[i] = weight * Element<T>::Load(from[i]);
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    DivideKernel(const SumType<T>* from, SumType<T> divisor, T* to, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < count; i += step) to[i] = Element<T>::Store(from[i] / divisor);
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    AddKernel(const T* left, const T* right, T* to, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < count; i += step) to[i] = left[i] + right[i];
}

}  // namespace

llvm::Error WeighGradient(const CUDAContext& context, const Tensor& from, double weight,
                          void* sums) {
  return VisitDType(Floats(), from.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using Sum = SumType<T>;
    return Launch(context, "weighting a gradient", &WeighKernel<T>,
                  GridFor(context, from.num_elements()), dim3(kBlockThreads),
                  static_cast<const T*>(from.raw()), static_cast<Sum>(weight),
                  static_cast<Sum*>(sums), from.num_elements());
  });
}

llvm::Error DivideGradient(const CUDAContext& context, const void* sums, double count, Tensor& to) {
  return VisitDType(Floats(), to.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using Sum = SumType<T>;
    return Launch(context, "dividing a gradient", &DivideKernel<T>,
                  GridFor(context, to.num_elements()), dim3(kBlockThreads),
                  static_cast<const Sum*>(sums), static_cast<Sum>(count), static_cast<T*>(to.raw()),
                  to.num_elements());
  });
}

llvm::Error AddGradients(const CUDAContext& context, CUstream_st* stream, DType dtype,
                         const void* left, const void* right, size_t count, void* sums) {
  return VisitDType(TypeList<float, double>(), dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const auto* first = static_cast<const T*>(left);
    const auto* second = static_cast<const T*>(right);
    auto* to = static_cast<T*>(sums);
    auto elements = static_cast<long long>(count);
    CurrentDevice current(context.device());
    return ToError(LaunchKernel(&AddKernel<T>, GridFor(context, elements), dim3(kBlockThreads),
                                stream, first, second, to, elements),
                   "adding gradients", context.device());
  });
}

}  // namespace pdl::cuda
