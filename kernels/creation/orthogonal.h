// How `orthogonal` sees a weight, on every device.
#ifndef PDL_KERNELS_CREATION_ORTHOGONAL_H_
#define PDL_KERNELS_CREATION_ORTHOGONAL_H_

#include <algorithm>
#include <cstdint>

#include "kernels/creation/inverse_normal.h"
#include "llvm/ADT/ArrayRef.h"

namespace pdl::random {

/// `count` vectors of `length` numbers, no more than they are long, which are to stand at right
/// angles: the rows of the matrix that the first dim makes of the weight, or its columns.
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

/// Two standard normal numbers of a block.
struct NormalNumbers {
  double first, second;
};
PDL_RANDOM_INLINE NormalNumbers NormalsOf(const Words& words) {
  return {InverseNormal(UnitDouble(words.w0, words.w1) + 0x1p-54),
          InverseNormal(UnitDouble(words.w2, words.w3) + 0x1p-54)};
}

}  // namespace pdl::random

#endif  // PDL_KERNELS_CREATION_ORTHOGONAL_H_
