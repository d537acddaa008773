#ifndef PDL_ONNX_IMPORT_RESAMPLE_H_
#define PDL_ONNX_IMPORT_RESAMPLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "onnx/import/node.h"

namespace pdl {

/// How the elements along an axis of a resized tensor are made of those there were, in the words of
/// ONNX's Resize.
struct Resampling {
  std::string mode;         // "nearest", "linear" or "cubic"
  std::string coordinates;  // coordinate_transformation_mode
  std::string rounding;     // nearest_mode
  double cubic_a = -0.75;
  bool exclude_outside = false;
  /// Not of "nearest".
  bool antialias = false;
  int64_t in = 0, out = 0;
  double scale = 1;
  double roi_begin = 0, roi_end = 1;
  double extrapolation_value = 0;
};

/// x with that axis resized: by a gather, or by a product with a matrix of weights. For coordinates
/// that the operator `resize` does not have, and for scales that do not give the size by rounding
/// down.
Value* ResampleAxis(Node& n, Value* x, unsigned axis, const Resampling& resampling);

/// The same where `in` or `out` depends on symbols, and is not asked for: the axis becomes `out`
/// long. A scale of 0 is that of the two sizes.
Value* ResampleSymbolicAxis(Node& n, Value* x, unsigned axis, const Resampling& resampling,
                            const Dim& out);

/// A size times a scale, rounded down; nullopt where the scale is no ratio of small numbers.
std::optional<Dim> ScaledSize(const Dim& size, double scale);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_RESAMPLE_H_
