// Index lookup on the GPU, and the values that represent elements out of range. For .cu files.
#ifndef PDL_KERNELS_INDEXING_INDEX_RANGE_CUH_
#define PDL_KERNELS_INDEXING_INDEX_RANGE_CUH_

#include "kernels/cuda/cuda_launch.h"

namespace pdl::cuda {

/// The position of index i in an axis of `size` elements: negative indices count from the end; -1
/// if out of range.
template <class Index>
__device__ __forceinline__ long long PositionOf(const Index* indices, long long i, long long size) {
  long long index = static_cast<long long>(indices[i]);
  if (index < 0) index += size;
  return index >= 0 && index < size ? index : -1;
}

/// Calls visit(Index()) with the type of the indices.
template <class Visit>
llvm::Error VisitIndex(DType dtype, Visit visit) {
  return dtype == DType::kI64 ? visit(static_cast<long long>(0)) : visit(0);
}

/// The bytes of the element that is returned for an index out of range: NaN for floats, else 0.
inline unsigned long long MissingBits(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x7e00;
    case DType::kBF16:
      return 0x7fc0;
    case DType::kF32:
      return 0x7fc00000;
    case DType::kF64:
      return 0x7ff8000000000000;
    default:
      return 0;
  }
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_INDEXING_INDEX_RANGE_CUH_
