// The windows of pooling, shared by all devices.
#ifndef PDL_KERNELS_CONVOLUTION_POOL_WINDOW_H_
#define PDL_KERNELS_CONVOLUTION_POOL_WINDOW_H_

#include "kernels/convolution/sliding_window.h"
#include "kernels/core/rounding.h"

namespace pdl {

/// The elements of one window along one dim: `count` indices from `first` on, `step` apart.
struct PoolRange {
  int64_t first = 0, count = 0, step = 1;
  /// The number of elements including those in the padding.
  int64_t padded = 0;
};

/// One dim of pooling: a sliding window, or one of `out` parts of the dim (adaptive).
struct PoolDim {
  WindowDim window;
  bool adaptive = false;

  /// The elements that output `o` is computed from.
  PDL_WINDOW_FUNCTION PoolRange At(int64_t o) const {
    const WindowDim& w = window;
    PoolRange range;
    if (adaptive) {
      range.first = o * w.in / w.out;
      range.count = ((o + 1) * w.in + w.out - 1) / w.out - range.first;
      range.padded = range.count;
      return range;
    }
    const int64_t start = w.At(o, 0);
    range.step = w.dilation;
    int64_t from = start >= 0 ? 0 : DivideUp(-start, w.dilation);
    int64_t to = Below(start, w.in);
    range.padded = Below(start, w.in + w.end);
    if (from > to) from = to = 0;
    range.first = start + from * w.dilation;
    range.count = to - from;
    return range;
  }

  /// Whether output `o` depends on input `p`.
  PDL_WINDOW_FUNCTION bool Covers(int64_t o, int64_t p) const {
    const PoolRange range = At(o);
    const int64_t distance = p - range.first;
    return distance >= 0 && distance < range.count * range.step && distance % range.step == 0;
  }
  /// The range [first, last) of outputs that may depend on input `p`.
  PDL_WINDOW_FUNCTION int64_t FirstOutput(int64_t p) const {
    const WindowDim& w = window;
    if (adaptive) return p * w.out / w.in;
    const int64_t least = p + w.begin - (w.kernel - 1) * w.dilation;
    return least <= 0 ? 0 : DivideUp(least, w.stride);
  }
  PDL_WINDOW_FUNCTION int64_t LastOutput(int64_t p) const {
    const WindowDim& w = window;
    const int64_t last =
        adaptive ? ((p + 1) * w.out + w.in - 1) / w.in : (p + w.begin) / w.stride + 1;
    return last < w.out ? last : w.out;
  }

 private:
  // The number of elements of a window starting at `start` whose index is below `end`.
  PDL_WINDOW_FUNCTION int64_t Below(int64_t start, int64_t end) const {
    if (start >= end) return 0;
    const int64_t count = DivideUp(end - start, window.dilation);
    return count < window.kernel ? count : window.kernel;
  }
};

/// The pooling of planes of up to three dims; if there are fewer, the leading ones are 1.
struct PoolWindow {
  PoolDim d[3];
  int64_t planes = 0;
  /// The divisor of averages; 0: the number of the window's elements.
  int64_t divisor = 0;
  /// Whether that number includes the padding.
  bool counts_padding = true;

  PDL_WINDOW_FUNCTION int64_t in() const {
    return d[0].window.in * d[1].window.in * d[2].window.in;
  }
  PDL_WINDOW_FUNCTION int64_t out() const {
    return d[0].window.out * d[1].window.out * d[2].window.out;
  }
  /// The divisor of the average over these ranges.
  PDL_WINDOW_FUNCTION int64_t Divisor(const PoolRange& a, const PoolRange& b,
                                      const PoolRange& c) const {
    if (divisor != 0) return divisor;
    const int64_t count =
        counts_padding ? a.padded * b.padded * c.padded : a.count * b.count * c.count;
    return count < 1 ? 1 : count;
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_POOL_WINDOW_H_
