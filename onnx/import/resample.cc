#include "onnx/import/resample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

/// The most elements of a matrix of weights.
constexpr int64_t kMaxWeights = int64_t{1} << 22;

/// The coordinate in x of an element of the result.
double CoordinateOf(const Resampling& r, int64_t index) {
  const auto x = static_cast<double>(index), in = static_cast<double>(r.in);
  const double width = r.scale * in;  // not an integer if the scale is not
  if (r.coordinates == "asymmetric") return x / r.scale;
  if (r.coordinates == "pytorch_half_pixel" && r.out == 1) return 0;
  if (r.coordinates == "half_pixel" || r.coordinates == "pytorch_half_pixel")
    return (x + 0.5) / r.scale - 0.5;
  if (r.coordinates == "align_corners") return width == 1 ? 0 : x * (in - 1) / (width - 1);
  if (r.coordinates == "tf_crop_and_resize") {
    const double length = r.roi_end - r.roi_begin;
    const double at = width == 1 ? length * (in - 1) / 2 : x * length * (in - 1) / (width - 1);
    return at + r.roi_begin * (in - 1);
  }
  if (r.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / r.scale;
  // half_pixel_symmetric: the center is kept.
  const double offset = in / 2 * (1 - static_cast<double>(r.out) / width);
  return offset + (x + 0.5) / r.scale - 0.5;
}

int64_t Nearest(const Resampling& r, double at) {
  if (r.rounding == "floor") return static_cast<int64_t>(std::floor(at));
  if (r.rounding == "ceil") return static_cast<int64_t>(std::ceil(at));
  if (r.rounding == "round_prefer_ceil") return static_cast<int64_t>(std::floor(at + 0.5));
  return static_cast<int64_t>(std::ceil(at - 0.5));
}

/// Keys' cubic kernel at that distance.
double Cubic(double a, double t) {
  t = std::abs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/// Pairs of an index, which may be outside, and its weight.
std::vector<std::pair<int64_t, double>> Taps(const Resampling& r, double at) {
  const double floor = std::floor(at), part = at - floor;
  const auto first = static_cast<int64_t>(floor);
  std::vector<std::pair<int64_t, double>> taps;
  const bool is_linear = r.mode == "linear";
  // For antialiasing, the filter is widened so that no element is skipped.
  const double squeeze = r.antialias ? std::min(r.scale, 1.0) : 1;
  const auto reach = static_cast<int64_t>(std::ceil((is_linear ? 1 : 2) / squeeze));
  double sum = 0;
  for (int64_t i = 1 - reach; i <= reach; ++i) {
    const double distance = (static_cast<double>(i) - part) * squeeze;
    double weight = is_linear ? std::max(0.0, 1 - std::abs(distance)) : Cubic(r.cubic_a, distance);
    const int64_t position = first + i;
    if (r.exclude_outside && (position < 0 || position >= r.in)) weight = 0;
    taps.emplace_back(position, weight);
    sum += weight;
  }
  if (sum != 0)
    for (auto& [position, weight] : taps) weight /= sum;
  return taps;
}

/// A permutation that moves the axis to the end, or back.
std::vector<int64_t> LastAxis(unsigned axis, unsigned rank, bool back) {
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) {
    if (back) {
      perm.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
    } else if (i != axis) {
      perm.push_back(i);
    }
  }
  if (!back) perm.push_back(axis);
  return perm;
}

}  // namespace

Value* ResampleAxis(Node& n, Value* x, unsigned axis, const Resampling& r) {
  if (x == nullptr || n.failed()) return nullptr;
  const int64_t column = r.mode == "nearest" ? 1 : r.in;  // number of columns of the weights
  if (r.in < 1 || r.out < 0 || r.in > kMaxWeights || r.out > kMaxWeights / column) {
    n.Unsupported("{0} elements of {1}, coordinate_transformation_mode '{2}'", r.out, r.in,
                  r.coordinates);
    return nullptr;
  }
  std::vector<double> weights(static_cast<size_t>(column * r.out));
  std::vector<int64_t> nearest;
  std::vector<uint8_t> inside;
  for (int64_t i = 0; i < r.out; ++i) {
    const double at = CoordinateOf(r, i);
    const auto last = static_cast<double>(r.in - 1);
    inside.push_back(r.coordinates != "tf_crop_and_resize" || (at >= 0 && at <= last));
    // Clamps coordinates so far outside that all taps are outside, too.
    const double reach = 4 / (r.antialias ? std::min(r.scale, 1.0) : 1);
    const double clamped = std::clamp(at, -reach, last + reach);
    nearest.push_back(std::clamp<int64_t>(Nearest(r, clamped), 0, r.in - 1));
    if (r.mode == "nearest") continue;
    for (const auto& [position, weight] : Taps(r, clamped)) {
      const int64_t from = std::clamp<int64_t>(position, 0, r.in - 1);
      weights[static_cast<size_t>(from * r.out + i)] += weight;
    }
  }
  const unsigned rank = x->type().rank();
  const DType dtype = x->type().dtype;
  Value* y = nullptr;
  if (r.mode == "nearest") {
    y = n.Call("gather", {x, n.Literal(nearest)}, {{"axis", static_cast<int64_t>(axis)}});
  } else {
    if (!IsFloat(dtype)) {
      n.Unsupported("mode '{0}' of integers", r.mode);
      return nullptr;
    }
    Value* matrix =
        n.Cast(n.Literal(Constant::Copy(DType::kF64, {r.in, r.out}, weights.data())), dtype);
    y = n.Call("matmul", {n.Transpose(x, LastAxis(axis, rank, false)), matrix});
    y = n.Transpose(y, LastAxis(axis, rank, true));
  }
  if (y == nullptr || !llvm::is_contained(inside, 0)) return y;
  Shape line = {r.out};
  while (line.size() < rank - axis) line.emplace_back(1);
  Value* is_inside =
      n.Reshape(n.Literal(Constant::Copy(DType::kBool, {r.out}, inside.data())), line);
  return n.Call("where", {is_inside, y, n.Scalar(r.extrapolation_value, dtype)});
}

}  // namespace pdl
