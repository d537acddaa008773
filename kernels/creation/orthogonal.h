// The matrix that `orthogonal` makes of a weight, on every device.
#ifndef PDL_KERNELS_CREATION_ORTHOGONAL_H_
#define PDL_KERNELS_CREATION_ORTHOGONAL_H_

#include <algorithm>
#include <cstdint>

#include "kernels/creation/inverse_normal.h"
#include "llvm/ADT/ArrayRef.h"

namespace pdl::random {

/// The vectors to orthogonalize: `count` vectors of `length` numbers, with count <= length. The
/// weight is a matrix whose rows are along the first dim; its rows are the vectors, or its columns
/// if it has more rows than columns.
struct OrthogonalVectors {
  int64_t count = 0, length = 0;
  bool are_columns = false;

  explicit OrthogonalVectors(llvm::ArrayRef<int64_t> sizes) {
    const int64_t rows = sizes[0];
    int64_t columns = 1;
    for (const int64_t size : sizes.drop_front()) columns *= size;
    are_columns = rows > columns;
    count = std::min(rows, columns);
    length = std::max(rows, columns);
  }
};

/// Two standard normal numbers, from a block of random words.
struct NormalNumbers {
  double first, second;
};
PDL_RANDOM_INLINE NormalNumbers NormalsOf(const Words& words) {
  return {InverseNormal(UnitDouble(words.w0, words.w1) + 0x1p-54),
          InverseNormal(UnitDouble(words.w2, words.w3) + 0x1p-54)};
}

}  // namespace pdl::random

#endif  // PDL_KERNELS_CREATION_ORTHOGONAL_H_
