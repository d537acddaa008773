// Updates of slices at positions on the GPU: the kernels of scatter_add, scatter and scatter_nd.
// Sums and products of f16 and bf16 are computed in f32 and rounded once. For .cu files.
#ifndef PDL_KERNELS_INDEXING_SLICE_UPDATES_CUH_
#define PDL_KERNELS_INDEXING_SLICE_UPDATES_CUH_

#include "kernels/indexing/index_range.cuh"

namespace pdl::cuda {

enum class Reduction { kNone, kAdd, kMul, kMin, kMax };

/// The type in which updates of elements of type T are combined: f32 for 16-bit floats, else T.
template <class T>
using Combined = Conditional<kIsFloat<ComputeType<T>>, ComputeType<T>, T>;

template <class T>
__device__ __forceinline__ Combined<T> ToCombined(T element) {
  if constexpr (kIsFloat<ComputeType<T>>) {
    return Element<T>::Load(element);
  } else {
    return element;
  }
}

template <class T>
__device__ __forceinline__ T FromCombined(Combined<T> value) {
  if constexpr (kIsFloat<ComputeType<T>>) {
    return Element<T>::Store(value);
  } else {
    return value;
  }
}

/// Sums and products of integers wrap around; min and max of NaN are NaN.
template <class T>
__device__ __forceinline__ Combined<T> Combine(Reduction reduction, Combined<T> there,
                                               Combined<T> update) {
  switch (reduction) {
    case Reduction::kMin:
      return update < there || update != update ? update : there;
    case Reduction::kMax:
      return update > there || update != update ? update : there;
    case Reduction::kAdd:
      if constexpr (kIsFloat<ComputeType<T>>) {
        return there + update;
      } else {
        return static_cast<T>(static_cast<unsigned long long>(there) +
                              static_cast<unsigned long long>(update));
      }
    case Reduction::kMul:
      if constexpr (kIsFloat<ComputeType<T>>) {
        return there * update;
      } else {
        return static_cast<T>(static_cast<unsigned long long>(there) *
                              static_cast<unsigned long long>(update));
      }
    default:
      return update;
  }
}

/// Called by a block of kBlockThreads threads for update `first` of the updates [begin, end): if it
/// is the first one at its position, applies all updates at this position to the slice there, in
/// their order, so that results have the same bits in every run.
///
/// position_at(i) is the position of update i, -1 if it is dropped; target(position, c) is the
/// element of y that column c of a slice changes, and source(i, c) that of `updates`.
template <class T, class PositionAt, class Target, class Source>
__device__ void UpdateSlice(Reduction reduction, long long begin, long long first, long long end,
                            long long columns, PositionAt position_at, Target target, Source source,
                            const T* updates, T* y) {
  // Columns that a thread combines in registers in one pass over the positions.
  constexpr int kColumns = 8;
  __shared__ int matches[kBlockThreads];
  __shared__ int any;
  const int thread = static_cast<int>(threadIdx.x);
  const long long position = position_at(first);
  __syncthreads();  // other threads may still be reading `any`
  if (thread == 0) any = position < 0 ? 1 : 0;
  __syncthreads();
  for (long long i = begin + thread; i < first; i += kBlockThreads) {
    if (position_at(i) == position) any = 1;
  }
  __syncthreads();
  if (any != 0) return;
  for (long long left = 0; left < columns; left += kColumns * kBlockThreads) {
    Combined<T> combined[kColumns];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const long long c = left + j * kBlockThreads + thread;
      if (c < columns) combined[j] = ToCombined(y[target(position, c)]);
    }
    for (long long chunk = first; chunk < end; chunk += kBlockThreads) {
      const long long mine = chunk + thread;
      const int match = mine < end && position_at(mine) == position ? 1 : 0;
      __syncthreads();
      if (thread == 0) any = 0;
      matches[thread] = match;
      __syncthreads();
      if (match != 0) any = 1;
      __syncthreads();
      if (any == 0) continue;
      for (int k = 0; k < kBlockThreads; ++k) {
        if (matches[k] == 0) continue;
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          const long long c = left + j * kBlockThreads + thread;
          if (c < columns)
            combined[j] =
                Combine<T>(reduction, combined[j], ToCombined(updates[source(chunk + k, c)]));
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const long long c = left + j * kBlockThreads + thread;
      if (c < columns) y[target(position, c)] = FromCombined<T>(combined[j]);
    }
  }
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_INDEXING_SLICE_UPDATES_CUH_
