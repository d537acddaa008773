// Splits the dims of a dense tensor at an axis.
#ifndef PDL_KERNELS_CORE_AXIS_SPLIT_H_
#define PDL_KERNELS_CORE_AXIS_SPLIT_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"

namespace pdl {

/// The dims before the axis, its own size, and the dims after it: `outer` blocks of `length` rows
/// of `inner` elements.
struct AxisSplit {
  int64_t outer = 1, length = 1, inner = 1;
};

/// `axis` is in [-rank, rank).
inline AxisSplit SplitAtAxis(llvm::ArrayRef<int64_t> sizes, int64_t axis) {
  const size_t at =
      static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(sizes.size()) : axis);
  AxisSplit split;
  for (const int64_t size : sizes.take_front(at)) split.outer *= size;
  split.length = sizes[at];
  for (const int64_t size : sizes.drop_front(at + 1)) split.inner *= size;
  return split;
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_AXIS_SPLIT_H_
