// im2col and col2im on the GPU. For .cu files.
#ifndef PDL_KERNELS_CONVOLUTION_COLUMNS_CUH_
#define PDL_KERNELS_CONVOLUTION_COLUMNS_CUH_

#include <type_traits>

#include "kernels/convolution/sliding_window.h"
#include "kernels/cuda/cuda_launch.h"

namespace pdl::cuda {

/// The accumulator type: f32 for f16 and bf16; integers wrap around.
template <class T>
using SumType =
    std::conditional_t<std::is_floating_point_v<ComputeType<T>>, ComputeType<T>,
                       std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>>;

/// Element (c, k, o) of image n is at n * image_step + (c * kernel + k) * row_step + o.
struct ColumnLayout {
  int64_t images = 0, channels = 0;
  int64_t image_step = 0, row_step = 0;
};

/// A position in a space of three dims, and its linear index.
struct Place3 {
  int64_t at[3];

  __device__ __forceinline__ Place3(int64_t number, int64_t middle, int64_t inner)
      : at{number / (middle * inner), number / inner % middle, number % inner} {}
};

/// The index in a plane of x of element k of window o; -1 in the padding.
__device__ __forceinline__ int64_t PlaceInPlane(const SlidingWindow& w, const Place3& o,
                                                const Place3& k) {
  int64_t place = 0;
  for (int i = 0; i < 3; ++i) {
    const int64_t p = w.d[i].At(o.at[i], k.at[i]);
    if (!w.d[i].Has(p)) return -1;
    place = place * w.d[i].in + p;
  }
  return place;
}

/// The index of the window whose element k is at position p of x; -1 if there is none.
__device__ __forceinline__ int64_t WindowAt(const SlidingWindow& w, const Place3& p,
                                            const Place3& k) {
  int64_t window = 0;
  for (int i = 0; i < 3; ++i) {
    const WindowDim& d = w.d[i];
    const int64_t distance = p.at[i] + d.begin - k.at[i] * d.dilation;
    if (distance < 0 || distance % d.stride != 0 || distance / d.stride >= d.out) return -1;
    window = window * d.out + distance / d.stride;
  }
  return window;
}

__device__ __forceinline__ int64_t ThreadNumber() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t ThreadStep() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

/// `x` has images of `channels` planes, `x_step` elements apart.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    ToColumnsKernel(const __grid_constant__ SlidingWindow w,
                    const __grid_constant__ ColumnLayout layout, int64_t x_step, const T* x,
                    T* columns) {
  const int64_t kernel = w.kernel(), out = w.out();
  const int64_t count = layout.images * layout.channels * kernel * out;
  for (int64_t i = ThreadNumber(); i < count; i += ThreadStep()) {
    const int64_t o = i % out, row = i / out % (layout.channels * kernel);
    const int64_t image = i / out / (layout.channels * kernel);
    const int64_t place = PlaceInPlane(w, Place3(o, w.d[1].out, w.d[2].out),
                                       Place3(row % kernel, w.d[1].kernel, w.d[2].kernel));
    columns[image * layout.image_step + row * layout.row_step + o] =
        place < 0 ? T{} : x[image * x_step + row / kernel * w.in() + place];
  }
}

/// Sets each element of x to the sum of its elements in the columns, plus its channel's bias, which
/// may be null. Integers wrap around.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    AddColumnsKernel(const __grid_constant__ SlidingWindow w,
                     const __grid_constant__ ColumnLayout layout, const T* columns, const T* bias,
                     T* x) {
  using Sum = SumType<T>;
  const int64_t kernel = w.kernel(), in = w.in();
  const int64_t count = layout.images * layout.channels * in;
  for (int64_t i = ThreadNumber(); i < count; i += ThreadStep()) {
    const Place3 place(i % in, w.d[1].in, w.d[2].in);
    const int64_t channel = i / in % layout.channels;
    const T* from =
        columns + i / in / layout.channels * layout.image_step + channel * kernel * layout.row_step;
    Sum sum = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t window = WindowAt(w, place, Place3(k, w.d[1].kernel, w.d[2].kernel));
      if (window >= 0)
        sum += static_cast<Sum>(Element<T>::Load(from[k * layout.row_step + window]));
    }
    if (bias != nullptr) sum += static_cast<Sum>(Element<T>::Load(bias[channel]));
    x[i] = Element<T>::Store(static_cast<ComputeType<T>>(sum));
  }
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CONVOLUTION_COLUMNS_CUH_
