// How resizing makes each element along an axis of a few others, for every device.
#ifndef PDL_KERNELS_CONVOLUTION_RESIZE_TAPS_H_
#define PDL_KERNELS_CONVOLUTION_RESIZE_TAPS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "pdl/op/operator.h"

namespace pdl {

/// One axis of a resized tensor, seen as [outer, size, inner].
struct ResizeAxis {
  int64_t outer = 1, inner = 1;
  int64_t from = 1, to = 1;  // its size before and after
  int64_t count = 1;         // taps of each element
  /// Element o of the result is the sum over t of weights[o * count + t] times element
  /// places[o * count + t].
  std::vector<int64_t> places;
  std::vector<double> weights;
  /// Counts the two against the memory limit.
  std::shared_ptr<void> counted;
};

/// The factors that a call of resize gives: none, one for all spatial dims, or one for each.
llvm::Expected<llvm::SmallVector<double, 3>> ResizeScales(const AttributeReader& attributes);

/// The axes that a call of resize changes, first to last; each one's outer and inner sizes are
/// those after the axes before it were resized. `from` and `to`: the sizes before and after. An
/// Error where the taps alone would exceed the memory limit.
llvm::Expected<std::vector<ResizeAxis>> MakeResizeAxes(const AttributeReader& attributes,
                                                       llvm::ArrayRef<int64_t> from,
                                                       llvm::ArrayRef<int64_t> to);

/// The axis the other way: element p of the gradient before is the sum of weights times elements of
/// the gradient after. Every element has as many taps as the one with most; those missing have
/// weight 0.
llvm::Expected<ResizeAxis> Transposed(const ResizeAxis& axis);

/// A scale as a ratio of small integers, so that sizes can be computed with while they are symbols;
/// false where it is none.
bool ScaleAsRatio(double scale, int64_t* numerator, int64_t* denominator);

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_RESIZE_TAPS_H_
