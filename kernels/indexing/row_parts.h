// Updates of rows at indices, cut into columns: one task for all updates of a part of the columns.
#ifndef PDL_KERNELS_INDEXING_ROW_PARTS_H_
#define PDL_KERNELS_INDEXING_ROW_PARTS_H_

#include <algorithm>
#include <cstdint>

#include "kernels/core/grain.h"

namespace pdl {

/// `blocks` blocks, to each of which `count` rows of `inner` elements are added.
struct RowUpdates {
  int64_t blocks, count, inner;
  int64_t element;  // bytes
};

/// n adjacent elements of all rows of a block, from `column` on.
struct RowPart {
  int64_t block, column, n;
  int64_t inner, element;
  /// The bytes before the part of a row, counted from the first row of the first block.
  int64_t Offset(int64_t row) const { return (row * inner + column) * element; }
};

/// Calls f(part) for each part, in parallel: each element gets its updates from one task, in order.
template <class Context, class F>
void ForEachRowPart(const RowUpdates& updates, Context& context, F f) {
  const auto [blocks, count, inner, element] = updates;
  // At least a cache line wide, and few, since each task reads all indices.
  const int64_t width = std::max<int64_t>(64 / element, (inner + 15) / 16);
  const int64_t pieces = (inner + width - 1) / width;
  const int64_t grain =
      std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(1, count * width * element));
  context.ParallelFor(blocks * pieces, grain, [=](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % pieces * width;
      f(RowPart{task / pieces, column, std::min(width, inner - column), inner, element});
    }
  });
}

}  // namespace pdl

#endif  // PDL_KERNELS_INDEXING_ROW_PARTS_H_
