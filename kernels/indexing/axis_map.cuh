// Where the places along one axis of a result are read from: padding, flipping, rolling, tiling.
// Includes nothing, so that host and device share it.
#ifndef PDL_KERNELS_INDEXING_AXIS_MAP_CUH_
#define PDL_KERNELS_INDEXING_AXIS_MAP_CUH_

#ifdef __CUDACC__
#define PDL_AXIS_MAP_INLINE __host__ __device__ __forceinline__
#else
#define PDL_AXIS_MAP_INLINE inline
#endif

namespace pdl {

/// What stands beside the places that are read: a given value, the place at the edge, the places
/// mirrored at the edges (which are not repeated), the places again; kFlip reads them backwards.
enum class AxisRule { kFill, kEdge, kReflect, kWrap, kFlip };

/// Of an axis of the input the `size` places from `start` on are read; the result's place `shift`
/// is the first of them.
struct AxisMap {
  AxisRule rule = AxisRule::kFill;
  long long start = 0;
  long long size = 0;
  long long shift = 0;

  /// The input's place for place `i` of the result; -1 where the value to fill with stands.
  PDL_AXIS_MAP_INLINE long long Place(long long i) const {
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
