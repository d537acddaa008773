// The sizes of a window that slides over the dims after the first two of a tensor, shared by all
// devices, for convolutions, pooling and im2col.
#ifndef PDL_KERNELS_CONVOLUTION_SLIDING_WINDOW_H_
#define PDL_KERNELS_CONVOLUTION_SLIDING_WINDOW_H_

#include <cstdint>

#ifdef __CUDACC__
#define PDL_WINDOW_FUNCTION __host__ __device__ __forceinline__
#else
#define PDL_WINDOW_FUNCTION inline
#endif

namespace pdl {

/// One dim: window `o` of `out` covers the indices o * stride - begin + i * dilation, for i in [0,
/// kernel), of `in`; those outside are padding.
struct WindowDim {
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t begin = 0, end = 0;  // padding at both ends

  PDL_WINDOW_FUNCTION int64_t At(int64_t o, int64_t i) const {
    return o * stride - begin + i * dilation;
  }
  PDL_WINDOW_FUNCTION bool Has(int64_t place) const { return place >= 0 && place < in; }
};

/// Up to three dims, outermost first; if there are fewer, the leading ones are 1.
struct SlidingWindow {
  WindowDim d[3];

  PDL_WINDOW_FUNCTION int64_t in() const { return d[0].in * d[1].in * d[2].in; }
  PDL_WINDOW_FUNCTION int64_t out() const { return d[0].out * d[1].out * d[2].out; }
  PDL_WINDOW_FUNCTION int64_t kernel() const { return d[0].kernel * d[1].kernel * d[2].kernel; }
  /// Whether a window covers padding, if there are windows.
  PDL_WINDOW_FUNCTION bool has_padding() const {
    for (const WindowDim& dim : d) {
      if (dim.At(0, 0) < 0 || dim.At(dim.out - 1, dim.kernel - 1) >= dim.in) return true;
    }
    return false;
  }
};

/// A convolution: y[batch, features, out] of x[batch, channels, in] and w[features, channels /
/// groups, kernel].
struct ConvSizes {
  int64_t batch = 1, groups = 1;
  int64_t channels = 1, features = 1;
  SlidingWindow window;

  PDL_WINDOW_FUNCTION int64_t group_channels() const { return channels / groups; }
  PDL_WINDOW_FUNCTION int64_t group_features() const { return features / groups; }
  PDL_WINDOW_FUNCTION int64_t x_elements() const { return batch * channels * window.in(); }
  PDL_WINDOW_FUNCTION int64_t y_elements() const { return batch * features * window.out(); }
  PDL_WINDOW_FUNCTION int64_t w_elements() const {
    return features * group_channels() * window.kernel();
  }
  /// The number of multiply-adds, including those with padding; approximate above 2**53, where the
  /// integer could overflow.
  PDL_WINDOW_FUNCTION int64_t work() const {
    const double products = static_cast<double>(y_elements()) *
                            static_cast<double>(group_channels()) *
                            static_cast<double>(window.kernel());
    return products < 9e18 ? static_cast<int64_t>(products) : INT64_MAX;
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_SLIDING_WINDOW_H_
