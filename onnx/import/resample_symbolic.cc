// Resampling along an axis with symbolic sizes: coordinates and weights are computed at run time.
#include <cmath>

#include "onnx/import/resample.h"

namespace pdl {
namespace {

class SymbolicResampler {
 public:
  SymbolicResampler(Node& n, Value* x, unsigned axis, const Resampling& r, const Dim& out)
      : n_(n), r_(r), x_(x), axis_(axis), out_(out), in_(x->type().dims[axis]) {}

  Value* Run();

 private:
  Value* Number(double value) { return n_.Scalar(value, DType::kF64); }
  Value* Real(const Dim& size) {
    return n_.Cast(n_.Reshape(n_.SizeValue({size}), {}), DType::kF64);
  }
  Value* Floor(Value* value) { return n_.Call("floor", {value}); }
  /// The coordinates in x of the elements of the result.
  Value* Coordinates();
  Value* CoordinatesFromCorner(Value* index, Value* width);
  Value* Nearest(Value* positions);
  Value* Interpolated(Value* positions);
  /// The weight of an element at `offset` from the floor of a coordinate, whose fraction is `part`.
  Value* Weight(Value* part, int offset);
  /// The elements of x at integer indices, which are clamped.
  Value* At(Value* positions);
  /// Reshapes a vector so that it broadcasts along the axis.
  Value* AlongAxis(Value* line);

  Node& n_;
  const Resampling& r_;
  Value* x_;
  unsigned axis_;
  Dim out_, in_;
  Value* size_ = nullptr;  // the size of x
  Value* last_ = nullptr;  // the last index of x
};

Value* SymbolicResampler::CoordinatesFromCorner(Value* index, Value* width) {
  const bool is_crop = r_.coordinates == "tf_crop_and_resize";
  const double length = is_crop ? r_.roi_end - r_.roi_begin : 1;
  Value* steps = n_.Sub(width, Number(1));
  Value* reach = n_.Mul(last_, Number(length));
  // A single element is at the beginning, or in the middle of the cropped region.
  Value* one = is_crop ? n_.Div(reach, Number(2)) : n_.Mul(reach, Number(0));
  Value* positions = n_.Call(
      "where", {n_.Call("equal", {width, Number(1)}), one, n_.Div(n_.Mul(index, reach), steps)});
  return is_crop ? n_.Add(positions, n_.Mul(last_, Number(r_.roi_begin))) : positions;
}

Value* SymbolicResampler::Coordinates() {
  Value* index =
      n_.Cast(n_.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{out_}}}), DType::kF64);
  Value* out = Real(out_);
  Value* scale = r_.scale > 0 ? Number(r_.scale) : n_.Div(out, size_);
  Value* width = r_.scale > 0 ? n_.Mul(size_, scale) : out;  // not an integer if the scale is not
  if (r_.coordinates == "asymmetric") return n_.Div(index, scale);
  if (r_.coordinates == "align_corners" || r_.coordinates == "tf_crop_and_resize")
    return CoordinatesFromCorner(index, width);
  Value* positions = n_.Div(n_.Add(index, Number(0.5)), scale);
  if (r_.coordinates == "tf_half_pixel_for_nn") return positions;
  positions = n_.Sub(positions, Number(0.5));
  if (r_.coordinates == "pytorch_half_pixel")
    return n_.Call("where", {n_.Call("equal", {out, Number(1)}), Number(0), positions});
  if (r_.coordinates != "half_pixel_symmetric") return positions;
  Value* offset = n_.Mul(n_.Div(size_, Number(2)), n_.Sub(Number(1), n_.Div(out, width)));
  return n_.Add(offset, positions);
}

Value* SymbolicResampler::At(Value* positions) {
  Value* inside = n_.Call("minimum", {n_.Call("maximum", {positions, Number(0)}), last_});
  return n_.Call("gather", {x_, n_.Cast(inside, DType::kI64)},
                 {{"axis", static_cast<int64_t>(axis_)}});
}

Value* SymbolicResampler::AlongAxis(Value* line) {
  Shape dims = {out_};
  while (dims.size() < x_->type().rank() - axis_) dims.emplace_back(1);
  return n_.Reshape(line, dims);
}

Value* SymbolicResampler::Nearest(Value* positions) {
  if (r_.rounding == "floor") return At(Floor(positions));
  if (r_.rounding == "ceil") return At(n_.Call("ceil", {positions}));
  Value* half = Number(0.5);
  if (r_.rounding == "round_prefer_ceil") return At(Floor(n_.Add(positions, half)));
  return At(n_.Call("ceil", {n_.Sub(positions, half)}));
}

Value* SymbolicResampler::Weight(Value* part, int offset) {
  if (r_.mode == "linear") return offset == 0 ? n_.Sub(Number(1), part) : part;
  const double a = r_.cubic_a;
  Value* t = n_.Call("abs", {n_.Sub(part, Number(offset))});
  if (offset == 0 || offset == 1) {
    Value* inner = n_.Sub(n_.Mul(Number(a + 2), t), Number(a + 3));
    return n_.Add(n_.Mul(n_.Mul(inner, t), t), Number(1));
  }
  Value* inner = n_.Sub(n_.Mul(Number(a), t), Number(5 * a));
  inner = n_.Add(n_.Mul(inner, t), Number(8 * a));
  return n_.Sub(n_.Mul(inner, t), Number(4 * a));
}

Value* SymbolicResampler::Interpolated(Value* positions) {
  Value* floor = Floor(positions);
  Value* part = n_.Sub(positions, floor);
  const bool is_linear = r_.mode == "linear";
  std::vector<Value*> taps, weights;
  Value* total = nullptr;
  for (int offset = is_linear ? 0 : -1; offset <= (is_linear ? 1 : 2); ++offset) {
    Value* position = n_.Add(floor, Number(offset));
    Value* weight = Weight(part, offset);
    if (r_.exclude_outside) {
      Value* is_inside = n_.Call("logical_and", {n_.Call("greater_equal", {position, Number(0)}),
                                                 n_.Call("less_equal", {position, last_})});
      weight = n_.Call("where", {is_inside, weight, Number(0)});
      total = total == nullptr ? weight : n_.Add(total, weight);
    }
    taps.push_back(At(position));
    weights.push_back(weight);
  }
  Value* sum = nullptr;
  for (size_t i = 0; i < taps.size(); ++i) {
    Value* weight = total == nullptr ? weights[i] : n_.Div(weights[i], total);
    Value* part_of_sum = n_.Mul(taps[i], AlongAxis(n_.Cast(weight, x_->type().dtype)));
    sum = sum == nullptr ? part_of_sum : n_.Add(sum, part_of_sum);
  }
  return sum;
}

Value* SymbolicResampler::Run() {
  size_ = Real(in_);
  last_ = n_.Sub(size_, Number(1));
  Value* positions = Coordinates();
  if (n_.failed()) return nullptr;
  Value* y = r_.mode == "nearest" ? Nearest(positions) : Interpolated(positions);
  if (r_.coordinates != "tf_crop_and_resize") return y;
  Value* is_inside = n_.Call("logical_and", {n_.Call("greater_equal", {positions, Number(0)}),
                                             n_.Call("less_equal", {positions, last_})});
  return n_.Call("where",
                 {AlongAxis(is_inside), y, n_.Scalar(r_.extrapolation_value, x_->type().dtype)});
}

}  // namespace

Value* ResampleSymbolicAxis(Node& n, Value* x, unsigned axis, const Resampling& r, const Dim& out) {
  if (x == nullptr || n.failed()) return nullptr;
  if (r.antialias) {
    n.Unsupported("antialias with coordinate_transformation_mode '{0}' and unknown sizes",
                  r.coordinates);
    return nullptr;
  }
  if (r.mode != "nearest" && !IsFloat(x->type().dtype)) {
    n.Unsupported("mode '{0}' of integers", r.mode);
    return nullptr;
  }
  return SymbolicResampler(n, x, axis, r, out).Run();
}

std::optional<Dim> ScaledSize(const Dim& size, double scale) {
  constexpr int64_t kMaxDenominator = 1024;
  for (int64_t denominator = 1; denominator <= kMaxDenominator; ++denominator) {
    const double product = scale * static_cast<double>(denominator);
    const double whole = std::round(product);
    if (whole < 1 || whole > 1e9 || std::abs(product - whole) > 1e-9 * whole) continue;
    return Dim::FloorDiv(size * Dim(static_cast<int64_t>(whole)), Dim(denominator));
  }
  return std::nullopt;
}

}  // namespace pdl
