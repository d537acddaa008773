// Folds of many elements into few by a block of threads, in an order that depends on the sizes
// only, so that a result has the same bits in every run.
#ifndef PDL_KERNELS_REDUCTION_BLOCK_REDUCTION_CUH_
#define PDL_KERNELS_REDUCTION_BLOCK_REDUCTION_CUH_

#include <algorithm>

#include "kernels/core/index_map.h"
#include "kernels/cuda/cuda_launch.h"

namespace pdl::cuda {

/// The assignment of outputs to the threads of a block: `depth` threads fold one output, each a
/// part of it; the block folds kBlockThreads / depth outputs at the same time.
struct Fold {
  /// Map the index of an output, and the index within a fold, to an offset in the input.
  IndexMap<1> outputs;
  IndexMap<1> folded;
  int depth = 1;
  /// Whether the threads of an output are adjacent, because the elements that they read are
  /// contiguous; else adjacent threads fold adjacent outputs.
  bool inner = false;

  struct Place {
    int output;  // within the block
    int part;    // in [0, depth)
    int stride;  // between the threads of consecutive parts
  };
  __device__ __forceinline__ Place At(int thread) const {
    const int width = kBlockThreads / depth;
    return inner ? Place{thread / depth, thread % depth, 1}
                 : Place{thread % width, thread / width, width};
  }
};

/// Merges the values of the `depth` threads of each output as a tree. All threads of the block must
/// call it, and each gets the result of its output. `shared` has kBlockThreads elements.
template <class Value, class Merge>
__device__ __forceinline__ Value MergeParts(Value* shared, Value value, Fold::Place place,
                                            int depth, Merge merge) {
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();  // other threads may still be reading the result of the previous call
  shared[thread] = value;
  __syncthreads();
  for (int half = depth / 2; half > 0; half /= 2) {
    if (place.part < half)
      shared[thread] = merge(shared[thread], shared[thread + half * place.stride]);
    __syncthreads();
  }
  return shared[thread - place.part * place.stride];
}

/// The Fold over some axes of a dense input.
inline llvm::Expected<Fold> MakeFold(llvm::ArrayRef<int64_t> sizes,
                                     llvm::ArrayRef<bool> is_folded) {
  const Sizes strides = DenseStrides(sizes);
  Sizes kept_sizes, kept_strides, folded_sizes, folded_strides;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    (is_folded[axis] ? folded_sizes : kept_sizes).push_back(sizes[axis]);
    (is_folded[axis] ? folded_strides : kept_strides).push_back(strides[axis]);
  }
  auto outputs = MakeIndexMap<1>(kept_sizes, {kept_strides});
  if (!outputs) return outputs.takeError();
  auto folded = MakeIndexMap<1>(folded_sizes, {folded_strides});
  if (!folded) return folded.takeError();

  Fold fold;
  fold.outputs = *outputs;
  fold.folded = *folded;
  fold.inner = fold.folded.rank > 0 && fold.folded.strides[0][fold.folded.rank - 1] == 1;
  // A warp reads adjacent outputs together if they are contiguous.
  int most = kBlockThreads;
  if (!fold.inner) {
    for (int width = 1; width < 32 && width < fold.outputs.num_elements; width *= 2) most /= 2;
  }
  fold.depth = ThreadsPerRow(fold.folded.num_elements, most);
  return fold;
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_REDUCTION_BLOCK_REDUCTION_CUH_
