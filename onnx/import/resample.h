#ifndef PDL_ONNX_IMPORT_RESAMPLE_H_
#define PDL_ONNX_IMPORT_RESAMPLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "onnx/import/node.h"

namespace pdl {

/// Parameters of resizing an axis, with the values of ONNX's Resize.
struct Resampling {
  std::string mode;         // "nearest", "linear" or "cubic"
  std::string coordinates;  // coordinate_transformation_mode
  std::string rounding;     // nearest_mode
  double cubic_a = -0.75;
  bool exclude_outside = false;
  /// Not for "nearest".
  bool antialias = false;
  int64_t in = 0, out = 0;
  double scale = 1;
  double roi_begin = 0, roi_end = 1;
  double extrapolation_value = 0;
};

/// Resizes an axis of x by a gather, or by a matmul with a matrix of weights. Used for coordinates
/// that the operator `resize` does not support, and for scales that do not result in the size by
/// rounding down.
Value* ResampleAxis(Node& n, Value* x, unsigned axis, const Resampling& resampling);

/// The same if `in` or `out` depends on symbols; both are ignored, and the axis is resized to
/// `out`. A scale of 0 is the quotient of the two sizes.
Value* ResampleSymbolicAxis(Node& n, Value* x, unsigned axis, const Resampling& resampling,
                            const Dim& out);

/// A size times a scale, rounded down; nullopt if the scale is not a ratio of small integers.
std::optional<Dim> ScaledSize(const Dim& size, double scale);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_RESAMPLE_H_
