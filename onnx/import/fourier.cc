// Fourier transforms, as matmuls with cosines and sines.
#include <cmath>

#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

/// Longer transforms would require matrices that are too large.
constexpr int64_t kMaxLength = 4096;

/// A matrix [rows, columns] of function(row * column * 2 pi / length) * factor(row).
template <class Function, class Factor>
Value* TransformMatrix(Node& n, int64_t rows, int64_t columns, int64_t length, Function function,
                       Factor factor) {
  std::vector<double> values;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const auto turns = static_cast<double>(r * c % length) / static_cast<double>(length);
      values.push_back(function(2 * M_PI * turns) * factor(r));
    }
  }
  return n.Literal(Constant::Copy(DType::kF64, {rows, columns}, values.data()));
}

/// The parameters of a transform; the last dim of x holds the real and imaginary parts, or only the
/// real one.
struct Fourier {
  unsigned axis = 0;
  /// Longer signals are truncated, and shorter ones are padded with 0.
  int64_t length = 0;
  bool inverse = false, one_sided = false;
};

Value* Transform(Node& n, Value* x, const Fourier& options) {
  const auto [axis, length, inverse, one_sided] = options;
  const unsigned rank = x->type().rank();
  const Dim& size = x->type().dims[axis];
  const Dim& kinds = x->type().dims.back();
  if (!size.is_constant() || !kinds.is_constant()) {
    n.Unsupported("an unknown length");
    return nullptr;
  }
  if (length < 1 || length > kMaxLength) {
    n.Unsupported("a length of {0}", length);
    return nullptr;
  }
  const bool is_complex = kinds.is_constant(2);
  const int64_t whole = inverse && one_sided ? length / 2 + 1 : length;
  const int64_t rows = std::min(size.constant(), whole);
  const int64_t columns = one_sided && !inverse ? length / 2 + 1 : length;
  auto part = [&, axis = axis](int64_t which) {  // [..., rows], with the axis last
    Value* y = n.Call("gather", {x, n.Scalar(static_cast<double>(which), DType::kI64)},
                      {{"axis", int64_t{-1}}});
    if (rows != size.constant()) {
      y = n.Call(
          "slice", {y},
          {{"axes", std::vector<int64_t>{axis}}, {"starts", Shape{0}}, {"stops", Shape{rows}}});
    }
    std::vector<int64_t> perm;
    for (unsigned i = 0; i + 1 < rank; ++i)
      if (i != axis) perm.push_back(i);
    perm.push_back(axis);
    return n.Transpose(y, perm);
  };
  // The lower half of a one-sided spectrum also represents the upper half.
  auto factor = [inverse = inverse, one_sided = one_sided, length = length](int64_t row) {
    if (!inverse) return 1.0;
    const bool is_alone = !one_sided || row == 0 || 2 * row == length;
    return (is_alone ? 1.0 : 2.0) / static_cast<double>(length);
  };
  // Sums with cancellation require more precision than f32 has.
  const DType dtype = x->type().dtype;
  x = n.Cast(x, DType::kF64);
  Value* cosines =
      TransformMatrix(n, rows, columns, length, [](double a) { return std::cos(a); }, factor);
  Value* sines =
      TransformMatrix(n, rows, columns, length, [](double a) { return std::sin(a); }, factor);
  if (inverse) sines = n.Call("neg", {sines});
  auto product = [&](Value* signal, Value* waves) { return n.Call("matmul", {signal, waves}); };
  Value* re = part(0);
  Value* im = is_complex ? part(1) : nullptr;
  Value* real = product(re, cosines);
  if (im != nullptr) real = n.Add(real, product(im, sines));
  std::vector<Value*> parts = {real};
  if (!(inverse && one_sided)) {
    Value* imaginary = n.Call("neg", {product(re, sines)});
    if (im != nullptr) imaginary = n.Add(imaginary, product(im, cosines));
    parts.push_back(imaginary);
  }
  Value* y = n.Call("stack", parts, {{"axis", int64_t{-1}}});
  std::vector<int64_t> back;
  for (unsigned i = 0; i + 1 < rank; ++i)
    back.push_back(i < axis ? i : i == axis ? rank - 2 : i - 1);
  back.push_back(rank - 1);
  return n.Cast(n.Transpose(y, back), dtype);
}

void ConvertDft(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned rank = x->type().rank();
  if (rank < 2) return n.Fail("{0} dims", rank);
  int64_t given = n.Int("axis", 1);
  if (n.opset() >= 20) given = n.Has(2) ? n.IntIn(2) : -2;
  Fourier options;
  options.axis = n.Axis(given, rank);
  if (n.failed()) return;
  if (options.axis + 1 == rank) return n.Fail("the last axis holds the parts of complex numbers");
  options.inverse = n.Int("inverse", 0) != 0;
  options.one_sided = n.Int("onesided", 0) != 0;
  const Dim& size = x->type().dims[options.axis];
  if (n.Has(1)) {
    options.length = n.IntIn(1);
  } else if (size.is_constant()) {
    options.length = size.constant();
    if (options.inverse && options.one_sided) {
      if (options.length > INT64_MAX / 2)
        return n.Unsupported("a transform of {0}", size.constant());
      options.length = 2 * (options.length - 1);
    }
  }
  if (n.failed()) return;
  if (!n.Has(1) && !size.is_constant()) return n.Unsupported("an unknown length");
  n.Out(Transform(n, x, options));
}

// Transforms of the frames of a signal, [batch, samples, parts], each multiplied by a window.
void ConvertStft(Node& n) {
  Value* x = n.In(0);
  const int64_t step = n.IntIn(1);
  Value* window = n.OptionalIn(2);
  if (x == nullptr || n.failed()) return;
  if (x->type().rank() == 2) x = n.Reshape(x, {x->type().dims[0], x->type().dims[1], 1});
  if (x->type().rank() != 3) return n.Fail("a signal of {0}", x->type().ToString());
  const Dim& samples = x->type().dims[1];
  const bool has_window = window != nullptr && window->type().rank() == 1;
  if (window != nullptr && (!has_window || !window->type().dims[0].is_constant()))
    return n.Unsupported("a window of {0}", window->type().ToString());
  int64_t length = has_window ? window->type().dims[0].constant() : 0;
  if (n.Has(3)) length = n.IntIn(3);
  if (n.failed()) return;
  if (!samples.is_constant()) return n.Unsupported("an unknown length");
  if (step < 1 || length < 1 || length > samples.constant())
    return n.Fail("frames of {0} at each {1} of {2}", length, step, samples.constant());
  if (has_window && !window->type().dims[0].is_constant(length))
    return n.Fail("a window of {0} for frames of {1}", window->type().ToString(), length);
  const int64_t frames = (samples.constant() - length) / step + 1;
  if (frames > KnownValues::kMaxElements * 16 / length)
    return n.Unsupported("{0} frames of {1}", frames, length);
  std::vector<int64_t> indices;
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < length; ++i) indices.push_back(f * step + i);
  const Shape dims = {x->type().dims[0], frames, length, x->type().dims[2]};
  Value* framed =
      n.Reshape(n.Call("gather", {x, n.Literal(indices)}, {{"axis", int64_t{1}}}), dims);
  if (has_window) framed = n.Mul(framed, n.Reshape(n.Cast(window, x->type().dtype), {length, 1}));
  if (framed == nullptr) return;
  Fourier options;
  options.axis = 2;
  options.length = length;
  options.one_sided = n.Int("onesided", 1) != 0;
  n.Out(Transform(n, framed, options));
}

}  // namespace

llvm::ArrayRef<OnnxRule> FourierRules() {
  static const OnnxRule kRules[] = {{"DFT", ConvertDft}, {"STFT", ConvertStft}};
  return kRules;
}

}  // namespace pdl
