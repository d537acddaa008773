// The taps of resizing along an axis, shared by all devices.
#ifndef PDL_KERNELS_CONVOLUTION_RESIZE_TAPS_H_
#define PDL_KERNELS_CONVOLUTION_RESIZE_TAPS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "pdl/op/operator.h"

namespace pdl {

/// One axis of a resized tensor, viewed as [outer, size, inner].
struct ResizeAxis {
  int64_t outer = 1, inner = 1;
  int64_t from = 1, to = 1;  // sizes before and after
  int64_t count = 1;         // taps per element
  /// Element o of the result is the sum over t of `weights[o * count + t]` times element
  /// `places[o * count + t]`.
  std::vector<int64_t> places;
  std::vector<double> weights;
  /// Holds the reservation of memory for the two.
  std::shared_ptr<void> counted;
};

/// The factors of a call of resize: none, one for all spatial dims, or one for each.
llvm::Expected<llvm::SmallVector<double, 3>> ResizeScales(const AttributeReader& attributes);

/// The axes that a call of resize changes, first to last; the outer and inner sizes of each are
/// those after the previous axes were resized. `from` and `to` are the sizes before and after.
/// Fails if the taps would exceed the memory limit.
llvm::Expected<std::vector<ResizeAxis>> MakeResizeAxes(const AttributeReader& attributes,
                                                       llvm::ArrayRef<int64_t> from,
                                                       llvm::ArrayRef<int64_t> to);

/// The transpose of an axis, for gradients: element p of the input's gradient is a weighted sum of
/// elements of the result's gradient. All elements have as many taps as the one with the most; the
/// others are padded with weight 0.
llvm::Expected<ResizeAxis> Transposed(const ResizeAxis& axis);

/// Converts a scale to a ratio of small integers, so that symbolic sizes can be multiplied by it;
/// returns false if it is none.
bool ScaleAsRatio(double scale, int64_t* numerator, int64_t* denominator);

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_RESIZE_TAPS_H_
