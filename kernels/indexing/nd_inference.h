// Type inference and index lookup shared by gather_nd and scatter_nd.
#ifndef PDL_KERNELS_INDEXING_ND_INFERENCE_H_
#define PDL_KERNELS_INDEXING_ND_INFERENCE_H_

#include "kernels/indexing/index_range.h"
#include "pdl/op/inference.h"

namespace pdl {

/// The row-major index, in dims of `sizes`, that index tuple `i` selects; -1 if one of its indices
/// is out of range.
inline int64_t TuplePosition(const IndexReader& indices, int64_t i, llvm::ArrayRef<int64_t> sizes) {
  int64_t position = 0;
  const int64_t depth = static_cast<int64_t>(sizes.size());
  for (int64_t d = 0; d < depth; ++d) {
    const int64_t at = indices.At(i * depth + d, sizes[static_cast<size_t>(d)]);
    if (at < 0) return -1;
    position = position * sizes[static_cast<size_t>(d)] + at;
  }
  return position;
}

/// Checks operands 0 (x) and 1 (indices) against each other and `batch_dims`; returns the dims of
/// the gathered tensor.
inline llvm::Expected<Shape> NdDims(InferenceContext& context) {
  const Type& x = context.input(0);
  const Type& indices = context.input(1);
  const int64_t batch_dims = context.attributes().Int("batch_dims");
  if (indices.is_scalar() || !indices.dims.back().is_constant()) {
    return context.FailAt(
        {1}, Code::kRank,
        "the last dim of 'indices', the number of indexed axes, must be a constant, got {0}",
        indices.ToString());
  }
  const unsigned least = std::min(x.rank(), indices.rank() - 1);
  if (batch_dims > least) {
    return context.FailAtAttribute("batch_dims", Code::kAxis,
                                   "{0} and {1} cannot share {2} axes before the indexed ones",
                                   x.ToString(), indices.ToString(), batch_dims);
  }
  const int64_t depth = indices.dims.back().constant();
  if (depth > x.rank() - batch_dims) {
    return context.FailAt({0, 1}, Code::kRank, "{0} axes are indexed, but {1} has {2} of them",
                          depth, x.ToString(), x.rank() - batch_dims);
  }
  const size_t first = static_cast<size_t>(batch_dims), last = first + static_cast<size_t>(depth);
  for (size_t d = 0; d < first; ++d) {
    if (llvm::Error error =
            context.RequireEqual(x.dims[d], indices.dims[d], {0, 1}, "shared axes differ")) {
      return error;
    }
  }
  for (size_t d = first; d < last; ++d) {
    if (llvm::Error error = CheckIndexBound(context, x.dims[d], 0, 1)) return error;
  }
  Shape dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.append(x.dims.begin() + last, x.dims.end());
  return dims;
}

}  // namespace pdl

#endif  // PDL_KERNELS_INDEXING_ND_INFERENCE_H_
