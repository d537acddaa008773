// Maps indices along an axis of the result to the input, for padding, flipping, rolling and tiling.
// Includes nothing, so that host and device share it.
#ifndef PDL_KERNELS_INDEXING_AXIS_MAP_CUH_
#define PDL_KERNELS_INDEXING_AXIS_MAP_CUH_

#ifdef __CUDACC__
#define PDL_AXIS_MAP_INLINE __host__ __device__ __forceinline__
#else
#define PDL_AXIS_MAP_INLINE inline
#endif

namespace pdl {

/// How indices outside the copied range are filled: with a given value, with the edge element,
/// mirrored at the edges (which are not repeated), or by repeating the range. kFlip reverses the
/// range.
enum class AxisRule { kFill, kEdge, kReflect, kWrap, kFlip };

/// Copies the `size` elements of the input from index `start` on; the first one is at index `shift`
/// of the result.
struct AxisMap {
  AxisRule rule = AxisRule::kFill;
  long long start = 0;
  long long size = 0;
  long long shift = 0;

  /// The input's index for index `i` of the result; -1 where the result is filled with a value.
  PDL_AXIS_MAP_INLINE long long SourceOf(long long i) const {
    long long at = i - shift;
    if (rule == AxisRule::kFlip) return start + size - 1 - at;
    if (at >= 0 && at < size) return start + at;
    if (rule == AxisRule::kFill) return -1;
    if (rule == AxisRule::kEdge) return at < 0 ? start : start + size - 1;
    const long long period = rule == AxisRule::kWrap ? size : size > 1 ? 2 * size - 2 : 1;
    at %= period;
    if (at < 0) at += period;
    return start + (at < size ? at : period - at);
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_INDEXING_AXIS_MAP_CUH_
