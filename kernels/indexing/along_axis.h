// The index spaces of operators with index tensors. take_along_axis and scatter index one axis;
// along the other axes, operands are accessed at the same indices.
#ifndef PDL_KERNELS_INDEXING_ALONG_AXIS_H_
#define PDL_KERNELS_INDEXING_ALONG_AXIS_H_

#include <algorithm>
#include <cstdint>

#include "kernels/core/strided_copy.h"
#include "pdl/op/operator.h"

namespace pdl {

/// The index space, split into the dims before the axis, the axis, and those after it. `outer` and
/// `inner` are the number of elements before and after; strides and offsets are in elements.
struct AlongAxis : CallState {
  Sizes outer_sizes, inner_sizes;
  Sizes outer_strides, inner_strides;              // of x
  Sizes index_outer_strides, index_inner_strides;  // of the indices
  int64_t outer = 1, count = 0, inner = 1;
  int64_t size = 0, stride = 0;  // of x along the axis
  int64_t index_stride = 0;
  /// Whether the dims after the axis are dense in x and in the indices.
  bool is_dense = true;

  /// `walk`: the sizes of the index space; sizes of 1 in x or the indices are broadcast to it.
  AlongAxis(llvm::ArrayRef<int64_t> walk, llvm::ArrayRef<int64_t> x,
            llvm::ArrayRef<int64_t> indices, int64_t axis) {
    const size_t rank = walk.size();
    const size_t at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
    const auto strides = RowMajorStrides(x), index_strides = RowMajorStrides(indices);
    count = walk[at];
    size = x[at];
    stride = strides[at];
    index_stride = index_strides[at];
    int64_t dense = 1;
    for (size_t d = rank; d-- > at + 1;) {
      const int64_t mine = x[d] == 1 ? 0 : strides[d];
      const int64_t index = indices[d] == 1 ? 0 : index_strides[d];
      inner_sizes.insert(inner_sizes.begin(), walk[d]);
      inner_strides.insert(inner_strides.begin(), mine);
      index_inner_strides.insert(index_inner_strides.begin(), index);
      if (walk[d] != 1) is_dense &= mine == dense && index == dense;
      dense *= walk[d];
    }
    inner = dense;
    for (size_t d = 0; d < at; ++d) {
      outer *= walk[d];
      outer_sizes.push_back(walk[d]);
      outer_strides.push_back(x[d] == 1 ? 0 : strides[d]);
      index_outer_strides.push_back(indices[d] == 1 ? 0 : index_strides[d]);
    }
  }

  /// The offset of element `i` in row-major order of `sizes`.
  static int64_t Offset(int64_t i, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides) {
    int64_t offset = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return offset;
  }
  int64_t InnerOffset(int64_t i) const {
    return is_dense ? i : Offset(i, inner_sizes, inner_strides);
  }
  int64_t IndexInnerOffset(int64_t i) const {
    return is_dense ? i : Offset(i, inner_sizes, index_inner_strides);
  }
};

/// The index space of gather_nd and scatter_nd: x is `blocks` blocks of dims `sizes` (`positions`
/// in total) with `inner` elements at each index, and each block has `count` index tuples.
struct NdState : CallState {
  int64_t blocks = 1, count = 1, inner = 1, positions = 1;
  Sizes sizes;

  NdState(llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> indices, int64_t block_dims) {
    const size_t first = static_cast<size_t>(block_dims);
    const size_t depth = static_cast<size_t>(indices.back());
    for (size_t d = 0; d < x.size(); ++d) {
      (d < first ? blocks : d < first + depth ? positions : inner) *= x[d];
    }
    sizes.assign(x.begin() + first, x.begin() + first + depth);
    for (size_t d = first; d + 1 < indices.size(); ++d) count *= indices[d];
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_INDEXING_ALONG_AXIS_H_
