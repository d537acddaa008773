// Images sampled at computed coordinates.
#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

/// Samples x at the coordinates of a grid, which are between -1 and 1 along each spatial dim.
class GridSample {
 public:
  explicit GridSample(Node& n) : n_(n) {}
  void Convert();

 private:
  Value* Number(double value) { return n_.Scalar(value, dtype_); }
  Value* SizeIn(DType dtype, const Dim& size) {
    return n_.Cast(n_.Reshape(n_.SizeValue({size}), {}), dtype);
  }
  Value* Real(const Dim& size) { return SizeIn(dtype_, size); }
  Value* Floor(Value* x) { return n_.Call("floor", {x}); }
  Value* Reflect(Value* x, unsigned d);
  Value* Clamp(Value* x, Value* low, Value* high) {
    return n_.Call("minimum", {n_.Call("maximum", {x, low}), high});
  }
  Value* Coordinate(Value* grid, unsigned d);
  /// The weight of an element at `offset` from the floor of a coordinate, whose fraction is `part`.
  Value* Weight(Value* part, int offset);
  void AddPoint(std::vector<int> offsets);

  Node& n_;
  DType dtype_ = DType::kF32;
  bool align_ = false;
  std::string mode_, padding_;
  Shape sizes_;
  std::vector<Value*> low_, high_;      // the bounds of the image
  std::vector<Value*> floors_, parts_;  // floors and fractions of the coordinates
  Value* image_ = nullptr;              // [N, C, elements of a plane]
  Value* sum_ = nullptr;
};

Value* GridSample::Reflect(Value* x, unsigned d) {
  // A triangle wave with a period of twice the range.
  Value* range = n_.Sub(high_[d], low_[d]);
  Value* far = n_.Call("abs", {n_.Sub(x, low_[d])});
  Value* twice = n_.Mul(range, Number(2));
  Value* rest = n_.Sub(far, n_.Mul(Floor(n_.Div(far, twice)), twice));
  Value* back = n_.Call("minimum", {rest, n_.Sub(twice, rest)});
  return n_.Add(back, low_[d]);
}

Value* GridSample::Coordinate(Value* grid, unsigned d) {
  const auto last = static_cast<double>(sizes_.size() - 1 - d);
  Value* at = n_.Call("gather", {grid, n_.Scalar(last, DType::kI64)}, {{"axis", int64_t{-1}}});
  Value* size = Real(sizes_[d]);
  Value* from_zero = n_.Add(at, Number(1));
  Value* x = align_ ? n_.Mul(n_.Div(from_zero, Number(2)), n_.Sub(size, Number(1)))
                    : n_.Div(n_.Sub(n_.Mul(from_zero, size), Number(1)), Number(2));
  if (mode_ == "nearest") x = n_.Call("round", {x});
  Value* outside =
      n_.Call("logical_or", {n_.Call("less", {x, low_[d]}), n_.Call("greater", {x, high_[d]})});
  // For cubic interpolation, PyTorch and ONNX Runtime clamp only the indices of elements.
  if (padding_ == "border" && mode_ != "cubic")
    return n_.Call("where", {outside, Clamp(x, Number(0), n_.Sub(size, Number(1))), x});
  if (padding_ == "reflection") return n_.Call("where", {outside, Reflect(x, d), x});
  return x;
}

Value* GridSample::Weight(Value* part, int offset) {
  if (mode_ == "nearest") return nullptr;
  if (mode_ == "linear") return offset == 0 ? n_.Sub(Number(1), part) : part;
  // Keys' cubic kernel with a = -0.75, at the distance from the element.
  constexpr double kA = -0.75;
  Value* t = n_.Call("abs", {n_.Sub(part, Number(offset))});
  auto times = [&](Value* a, Value* b) { return n_.Mul(a, b); };
  if (offset == 0 || offset == 1) {
    Value* inner = n_.Sub(times(Number(kA + 2), t), Number(kA + 3));
    return n_.Add(times(times(inner, t), t), Number(1));
  }
  Value* inner = n_.Add(times(n_.Sub(times(Number(kA), t), Number(5 * kA)), t), Number(8 * kA));
  return n_.Sub(times(inner, t), Number(4 * kA));
}

void GridSample::AddPoint(std::vector<int> offsets) {
  Value* position = nullptr;
  Value* weight = nullptr;
  auto multiply = [&](Value* factor) {
    if (factor != nullptr) weight = weight == nullptr ? factor : n_.Mul(weight, factor);
  };
  for (unsigned d = 0; d < sizes_.size(); ++d) {
    Value* at = offsets[d] == 0 ? floors_[d] : n_.Add(floors_[d], Number(offsets[d]));
    Value* end = n_.Sub(Real(sizes_[d]), Number(1));
    multiply(Weight(parts_[d], offsets[d]));
    if (padding_ == "reflection") {
      Value* outside = n_.Call(
          "logical_or", {n_.Call("less", {at, low_[d]}), n_.Call("greater", {at, high_[d]})});
      at = n_.Call("where", {outside, Reflect(at, d), at});
    }
    Value* inside = Clamp(at, Number(0), end);
    if (padding_ == "zeros") multiply(n_.Cast(n_.Call("equal", {inside, at}), dtype_));
    // f64 has all indices of elements, f32 those below 2^24; a nan stays one.
    inside = n_.Cast(inside, DType::kF64);
    position = position == nullptr
                   ? inside
                   : n_.Add(n_.Mul(position, SizeIn(DType::kF64, sizes_[d])), inside);
  }
  if (position == nullptr) return;
  // [N, points of the grid], for all channels.
  const Shape& dims = position->type().dims;
  const Dim count = NumElements(llvm::ArrayRef<Dim>(dims).drop_front(1));
  const Shape line = {dims[0], 1, count};
  Value* index = n_.Reshape(n_.Cast(position, DType::kI64), line);
  Value* found = n_.Call("take_along_axis", {image_, index}, {{"axis", int64_t{2}}});
  if (weight != nullptr) found = n_.Mul(found, n_.Reshape(weight, line));
  sum_ = sum_ == nullptr ? found : n_.Add(sum_, found);
}

void GridSample::Convert() {
  Value* x = n_.In(0);
  Value* grid = n_.In(1);
  if (n_.failed()) return;
  const unsigned rank = x->type().rank();
  if (rank < 3 || rank > 5 || grid->type().rank() != rank ||
      !grid->type().dims.back().is_constant(rank - 2))
    return n_.Fail("a grid of {0} for {1}", grid->type().ToString(), x->type().ToString());
  mode_ = n_.String("mode", n_.opset() < 20 ? "bilinear" : "linear");
  if (mode_ == "bilinear") mode_ = "linear";
  if (mode_ == "bicubic") mode_ = "cubic";
  padding_ = n_.String("padding_mode", "zeros");
  align_ = n_.Int("align_corners", 0) != 0;
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, mode_))
    return n_.Fail("mode '{0}'", mode_);
  if (!llvm::is_contained({"zeros", "border", "reflection"}, padding_))
    return n_.Fail("padding_mode '{0}'", padding_);
  const DType expected = x->type().dtype;
  dtype_ = grid->type().dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  grid = n_.Cast(grid, dtype_);
  const Shape dims = x->type().dims;
  sizes_.assign(dims.begin() + 2, dims.end());
  image_ = n_.Reshape(n_.Cast(x, dtype_), {dims[0], dims[1], NumElements(sizes_)});
  for (unsigned d = 0; d < sizes_.size(); ++d) {
    low_.push_back(Number(align_ ? 0 : -0.5));
    high_.push_back(n_.Sub(Real(sizes_[d]), Number(align_ ? 1 : 0.5)));
  }
  for (unsigned d = 0; d < sizes_.size(); ++d) {
    Value* at = Coordinate(grid, d);
    floors_.push_back(mode_ == "nearest" ? at : Floor(at));
    parts_.push_back(mode_ == "nearest" ? nullptr : n_.Sub(at, floors_.back()));
  }
  const int first = mode_ == "cubic" ? -1 : 0;
  const int last = mode_ == "cubic" ? 2 : mode_ == "linear" ? 1 : 0;
  std::vector<int> offsets(sizes_.size(), first);
  for (bool more = true; more && !n_.failed();) {
    AddPoint(offsets);
    more = false;
    for (int& offset : llvm::reverse(offsets)) {
      if (offset < last) {
        ++offset;
        more = true;
        break;
      }
      offset = first;
    }
  }
  if (n_.failed()) return;
  Shape result = {dims[0], dims[1]};
  for (unsigned i = 1; i + 1 < rank; ++i) result.push_back(grid->type().dims[i]);
  n_.Out(n_.Cast(n_.Reshape(sum_, result), expected));
}

/// The coordinates of a grid of these sizes, between -1 and 1 along each axis, as a matrix of
/// [points, the coordinates starting with the last axis, and a 1].
Value* GridPoints(Node& n, llvm::ArrayRef<int64_t> sizes, bool align) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  const auto width = static_cast<int64_t>(sizes.size()) + 1;
  std::vector<double> points(static_cast<size_t>(count * width), 1);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t c = 0; c < sizes.size(); ++c) {
      const int64_t size = sizes[sizes.size() - 1 - c], at = rest % size;
      rest /= size;
      // A single point is in the middle, or at the beginning.
      const double steps = static_cast<double>(align ? std::max<int64_t>(size - 1, 1) : size);
      const double position = static_cast<double>(2 * at + (align ? 0 : 1)) / steps - 1;
      points[static_cast<size_t>(i * width) + c] = position;
    }
  }
  return n.Literal(Constant::Copy(DType::kF64, {count, width}, points.data()));
}

void ConvertAffineGrid(Node& n) {
  Value* theta = n.In(0);
  const Shape sizes = n.SizesIn(1);
  if (theta == nullptr || n.failed()) return;
  std::vector<int64_t> size(sizes.size());  // the number of images is that of theta
  for (size_t i = 2; i < size.size(); ++i) {
    if (!sizes[i].is_constant())
      return n.Unsupported("a grid of a size that is not known: {0}", sizes[i].ToString());
    size[i] = sizes[i].constant();
  }
  const size_t spatial = size.size() < 2 ? 0 : size.size() - 2;
  const Shape& dims = theta->type().dims;
  if ((spatial != 2 && spatial != 3) || dims.size() != 3 ||
      !dims[1].is_constant(static_cast<int64_t>(spatial)))
    return n.Fail("{0} and {1} sizes", theta->type().ToString(), size.size());
  int64_t count = 1;
  for (size_t i = 2; i < size.size(); ++i) {
    if (size[i] < 0 || size[i] > KnownValues::kMaxElements)
      return n.Unsupported("a grid of size {0}", size[i]);
    count *= size[i];
  }
  if (count > KnownValues::kMaxElements) return n.Unsupported("a grid of {0} points", count);
  const bool align = n.Int("align_corners", 0) != 0;
  Value* points =
      n.Cast(GridPoints(n, llvm::ArrayRef(size).drop_front(2), align), theta->type().dtype);
  Shape result = {dims[0]};
  for (size_t i = 2; i < size.size(); ++i) result.emplace_back(size[i]);
  result.push_back(dims[1]);
  n.Out(n.Reshape(n.Call("matmul", {points, n.Transpose(theta, {0, 2, 1})}), result));
}

void ConvertGridSample(Node& n) { GridSample(n).Convert(); }

}  // namespace

llvm::ArrayRef<OnnxRule> SampleRules() {
  static const OnnxRule kRules[] = {{"GridSample", ConvertGridSample},
                                    {"AffineGrid", ConvertAffineGrid}};
  return kRules;
}

}  // namespace pdl
