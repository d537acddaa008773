// Segments of rows on the device. Offsets need not be valid: no segment exceeds the rows.
#ifndef PDL_KERNELS_SEQUENCE_SEGMENT_CUH_
#define PDL_KERNELS_SEQUENCE_SEGMENT_CUH_

namespace pdl::cuda {

struct Range {
  long long begin, end;
};

/// The segment of a row; rows after the last segment belong to it.
__device__ __forceinline__ long long SegmentOf(const long long* offsets, long long segments,
                                               long long row) {
  // Searches for the first end that is larger than the row.
  long long low = 0, high = segments;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (offsets[middle + 1] <= row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < segments ? low : segments > 0 ? segments - 1 : 0;
}

/// The rows of a segment; empty if there are no segments.
__device__ __forceinline__ Range RangeOf(const long long* offsets, long long segments,
                                         long long segment, long long rows) {
  if (segments == 0) return {0, 0};
  long long begin = offsets[segment], end = offsets[segment + 1];
  begin = begin < 0 ? 0 : begin > rows ? rows : begin;
  end = end < begin ? begin : end > rows ? rows : end;
  return {begin, end};
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_SEQUENCE_SEGMENT_CUH_
