// Index spaces of gather_nd and scatter_nd on the GPU. For .cu files.
#ifndef PDL_KERNELS_INDEXING_ND_INDEX_CUH_
#define PDL_KERNELS_INDEXING_ND_INDEX_CUH_

#include "kernels/core/index_map.h"
#include "kernels/indexing/index_range.cuh"

namespace pdl::cuda {

/// x is `blocks` blocks of `positions` slices of `inner` elements each; a block has `count` index
/// tuples of `depth` indices, into axes of `sizes`.
struct NdShape {
  long long blocks = 1, count = 1, inner = 1, positions = 1;
  int depth = 0;
  long long sizes[kMaxAxes];
};

inline llvm::Expected<NdShape> MakeNdShape(const PrepareContext& context, int64_t batch_dims) {
  const Sizes& x = context.inputs()[0].sizes;
  const Sizes& indices = context.inputs()[1].sizes;
  NdShape shape;
  const size_t first = static_cast<size_t>(batch_dims);
  const size_t depth = static_cast<size_t>(indices.back());
  if (depth > kMaxAxes)
    return MakeUserError(Code::kRank, "at most {0} axes may be indexed on cuda, got {1}", kMaxAxes,
                         depth);
  shape.depth = static_cast<int>(depth);
  for (size_t d = 0; d < x.size(); ++d) {
    (d < first ? shape.blocks : d < first + depth ? shape.positions : shape.inner) *= x[d];
    if (d >= first && d < first + depth) shape.sizes[d - first] = x[d];
  }
  for (size_t d = first; d + 1 < indices.size(); ++d) shape.count *= indices[d];
  return shape;
}

/// The index of the slice that tuple i selects in its block; -1 if one of its indices is out of
/// range.
template <class Index>
__device__ __forceinline__ long long TuplePosition(const NdShape& shape, const Index* indices,
                                                   long long i) {
  long long position = 0;
  for (int d = 0; d < shape.depth; ++d) {
    const long long at = PositionOf(indices, i * shape.depth + d, shape.sizes[d]);
    if (at < 0) return -1;
    position = position * shape.sizes[d] + at;
  }
  return position;
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_INDEXING_ND_INDEX_CUH_
