// Segments: rows that lie one after another, as offsets say which belong together.
#ifndef PDL_KERNELS_SEQUENCE_SEGMENT_H_
#define PDL_KERNELS_SEQUENCE_SEGMENT_H_

#include <algorithm>
#include <utility>

#include "pdl/op/inference.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// The segments that `offsets` makes of `rows` rows. Offsets of a single call are not checked
/// before: none leads outside the rows.
struct RowSegments {
  RowSegments(const Tensor& offsets_in, int64_t rows_in)
      : offsets(offsets_in.data<int64_t>()), count(offsets_in.num_elements() - 1), rows(rows_in) {}

  /// The first row of a segment, and the one behind its last.
  std::pair<int64_t, int64_t> operator[](int64_t segment) const {
    const int64_t begin = std::clamp<int64_t>(offsets[segment], 0, rows);
    return {begin, std::clamp<int64_t>(offsets[segment + 1], begin, rows)};
  }

  /// The first row that is in a segment, and the one behind the last; 0 where there are none.
  int64_t begin() const { return count == 0 ? 0 : (*this)[0].first; }
  int64_t end() const { return count == 0 ? 0 : (*this)[count - 1].second; }

  const int64_t* offsets;
  int64_t count;
  int64_t rows;
};

/// How many segments operand `input`, which is offsets, makes; an Error where it is none.
llvm::Expected<Dim> InferSegments(InferenceContext& context, unsigned input);

}  // namespace pdl

#endif  // PDL_KERNELS_SEQUENCE_SEGMENT_H_
