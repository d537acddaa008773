// Segments: runs of consecutive rows, defined by offsets.
#ifndef PDL_KERNELS_SEQUENCE_SEGMENT_H_
#define PDL_KERNELS_SEQUENCE_SEGMENT_H_

#include <algorithm>
#include <utility>

#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// The segments of `rows` rows that are defined by `offsets`. The offsets need not be valid, since
/// a direct call may have any: no segment exceeds the rows.
struct RowSegments {
  RowSegments(const Tensor& offsets_in, int64_t rows_in)
      : offsets(offsets_in.data<int64_t>()), count(offsets_in.num_elements() - 1), rows(rows_in) {}

  /// The first row of a segment, and the row after its last.
  std::pair<int64_t, int64_t> operator[](int64_t segment) const {
    const int64_t begin = std::clamp<int64_t>(offsets[segment], 0, rows);
    return {begin, std::clamp<int64_t>(offsets[segment + 1], begin, rows)};
  }

  /// The first row of all segments, and the row after the last; 0 if there are no segments.
  int64_t begin() const { return count == 0 ? 0 : (*this)[0].first; }
  int64_t end() const { return count == 0 ? 0 : (*this)[count - 1].second; }

  const int64_t* offsets;
  int64_t count;
  int64_t rows;
};

/// The number of segments that operand `input`, a tensor of offsets, defines; an Error if it is not
/// valid as offsets.
llvm::Expected<Dim> InferSegments(InferenceContext& context, unsigned input);

/// Emits whether each of `rows` rows is in a segment that the offsets define: bool[rows].
Value* InSegments(GradientContext& g, Value* offsets, const Dim& rows);

}  // namespace pdl

#endif  // PDL_KERNELS_SEQUENCE_SEGMENT_H_
