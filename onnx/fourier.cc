// Fourier transforms, as products with matrices of cosines and sines.
#include <cmath>

#include "onnx/node.h"
#include "onnx/rules.h"

namespace pdl {
namespace {

/// Lengths from here on would need matrices that are too large.
constexpr int64_t kMaxLength = 4096;

/// A matrix [rows, columns] of function(row * column * 2 pi / length) * factor(row).
template <class Function, class Factor>
Value* Waves(Node& n, int64_t rows, int64_t columns, int64_t length, DType dtype, Function function,
             Factor factor) {
  std::vector<double> values;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const auto turns = static_cast<double>(r * c % length) / static_cast<double>(length);
      values.push_back(function(2 * M_PI * turns) * factor(r));
    }
  }
  Value* exact = n.Literal(Constant::Copy(DType::kF64, {rows, columns}, values.data()));
  return n.Cast(exact, dtype);
}

void ConvertDft(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned rank = x->type().rank();
  if (rank < 2) return n.Fail("{0} dims", rank);
  int64_t given = n.Int("axis", 1);
  if (n.opset() >= 20) given = n.Has(2) ? n.IntIn(2) : -2;
  const unsigned axis = n.Axis(given, rank);
  if (n.failed()) return;
  if (axis + 1 == rank) return n.Fail("the last axis holds the parts of complex numbers");
  const bool inverse = n.Int("inverse", 0) != 0, one_sided = n.Int("onesided", 0) != 0;
  const Dim& size = x->type().dims[axis];
  const Dim& kinds = x->type().dims.back();
  if (!size.is_constant() || !kinds.is_constant()) return n.Unsupported("an unknown length");
  const bool is_complex = kinds.is_constant(2);
  int64_t length = inverse && one_sided ? 2 * (size.constant() - 1) : size.constant();
  if (n.Has(1)) length = n.IntIn(1);
  if (n.failed()) return;
  if (length < 1 || length > kMaxLength) return n.Unsupported("a length of {0}", length);
  // What is longer is cut off; what is missing counts as 0.
  const int64_t whole = inverse && one_sided ? length / 2 + 1 : length;
  const int64_t rows = std::min(size.constant(), whole);
  const int64_t columns = one_sided && !inverse ? length / 2 + 1 : length;
  auto part = [&](int64_t which) {  // [..., rows], the axis last
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
  // The lower half of a one-sided spectrum stands for the upper one, too.
  auto factor = [&](int64_t row) {
    if (!inverse) return 1.0;
    const bool is_alone = !one_sided || row == 0 || 2 * row == length;
    return (is_alone ? 1.0 : 2.0) / static_cast<double>(length);
  };
  const DType dtype = x->type().dtype;
  Value* cosines =
      Waves(n, rows, columns, length, dtype, [](double a) { return std::cos(a); }, factor);
  Value* sines =
      Waves(n, rows, columns, length, dtype, [](double a) { return std::sin(a); }, factor);
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
  n.Out(n.Transpose(y, back));
}

}  // namespace

llvm::ArrayRef<OnnxRule> FourierRules() {
  static const OnnxRule kRules[] = {{"DFT", ConvertDft}};
  return kRules;
}

}  // namespace pdl
