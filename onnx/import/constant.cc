// Nodes that create tensors without operands.
#include <cmath>

#include "onnx/import/bounds.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

void ConvertConstant(Node& n) {
  const auto* dense = n.Attribute("value");
  const auto* sparse = n.Attribute("sparse_value");
  if (dense != nullptr || sparse != nullptr) {
    const std::string name = n.num_outputs() > 0 ? n.proto().output(0) : "value";
    llvm::Expected<Value*> made = dense != nullptr
                                      ? n.importer().AddTensor(dense->t(), name)
                                      : n.importer().AddSparse(sparse->sparse_tensor(), name);
    if (!made) return n.Take(made.takeError());
    return n.Out(*made);
  }
  if (const auto* value = n.Attribute("value_float"))
    return n.Out(n.Scalar(static_cast<double>(value->f()), DType::kF32));
  if (const auto* value = n.Attribute("value_int")) {
    const int64_t number = value->i();
    return n.Out(n.Literal(Constant::Copy(DType::kI64, {}, &number)));
  }
  if (n.HasAttribute("value_ints")) return n.Out(n.Literal(n.Ints("value_ints")));
  if (const auto* value = n.Attribute("value_floats")) {
    return n.Out(
        n.Literal(Constant::Copy(DType::kF32, {value->floats_size()}, value->floats().data())));
  }
  if (n.HasAttribute("value_string") || n.HasAttribute("value_strings"))
    return n.Unsupported("elements of type STRING are not supported");
  n.Fail("it has no value");
}

// The attribute `value`, which has one element, as a scalar; 0 of f32 by default.
Constant FillValue(Node& n) {
  const Constant zero = Constant::Scalar(DType::kF32, 0);
  const auto* value = n.Attribute("value");
  if (value == nullptr) return zero;
  llvm::Expected<Constant> constant = n.importer().model().ReadTensor(value->t());
  if (!constant) {
    n.Take(constant.takeError());
    return zero;
  }
  if (constant->num_elements() == 1) return Constant(constant->dtype(), {}, constant->bytes());
  n.Fail("value must have one element");
  return zero;
}

void ConvertConstantOfShape(Node& n) {
  const Shape dims = n.SizesIn(0);
  const Constant value = FillValue(n);
  for (const Dim& dim : dims)
    if (dim.is_constant() && dim.constant() < 0) return n.Fail("a dim is negative");
  n.Out(n.Filled(dims, value));
}

void ConvertRange(Node& n) {
  Value* start = n.In(0);
  if (start == nullptr) return;
  const DType dtype = start->type().dtype;
  if (!IsFloat(dtype)) {
    const Dim from = n.SizeIn(0);
    Dim to = n.SizeIn(1);
    const int64_t step = n.IntIn(2);
    if (!n.failed() && step == 0) return n.Fail("a step of 0");
    // The range may be empty.
    if (step > 0) {
      to = LargerOf(from, to);
    } else if (!IsAtMost(to, from)) {
      to = Dim::Min(from, to);
    }
    return n.Out(n.Cast(
        n.Call("range", {}, {{"start", Shape{from}}, {"stop", Shape{to}}, {"step", step}}), dtype));
  }
  const double from = n.RealIn(0), to = n.RealIn(1), step = n.RealIn(2);
  if (n.failed()) return;
  const double count = std::max(0.0, std::ceil((to - from) / step));
  if (!(count < 1e9)) return n.Fail("an infinite range");
  Value* indices =
      n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{static_cast<int64_t>(count)}}});
  n.Out(n.Add(n.Mul(n.Cast(indices, dtype), n.Scalar(step, dtype)), n.Scalar(from, dtype)));
}

void ConvertEyeLike(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const DType dtype = n.TypeAttribute("dtype", x->type().dtype);
  if (x->type().rank() != 2) return n.Fail("the operand must be a matrix");
  n.Out(n.Cast(
      n.Call("eye", {}, {{"dims", x->type().dims}, {"dtype", DType::kF32}, {"k", n.Int("k", 0)}}),
      dtype));
}

// Triangular windows over the frequencies of a transform, equally spaced on the mel scale.
void ConvertMelWeightMatrix(Node& n) {
  const int64_t bands = n.IntIn(0), length = n.IntIn(1), rate = n.IntIn(2);
  const double low = n.RealIn(3), high = n.RealIn(4);
  const DType dtype = n.TypeAttribute("output_datatype", DType::kF32);
  if (n.failed()) return;
  const int64_t rows = length / 2 + 1;
  if (bands < 0 || length < 0 || rate < 1 || !(low >= 0 && high >= low && high < 1e9))
    return n.Fail("{0} bands from {1} to {2} Hz", bands, low, high);
  constexpr int64_t kMaxWeights = int64_t{1} << 22;
  if (rows > kMaxWeights || bands > kMaxWeights / rows)
    return n.Unsupported("{0} bands of {1}", bands, rows);
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz =
        700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    edges.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    if (edges.back() >= rows) return n.Fail("{0} Hz are beyond half of {1}", high, rate);
  }
  std::vector<double> weights(static_cast<size_t>(rows * bands));
  for (size_t band = 0; band < static_cast<size_t>(bands); ++band) {
    const int64_t left = edges[band], top = edges[band + 1], right = edges[band + 2];
    auto set = [&](int64_t row, int64_t part, int64_t of) {
      weights[static_cast<size_t>(row * bands) + band] =
          static_cast<double>(part) / static_cast<double>(of);
    };
    for (int64_t row = left; row < top; ++row) set(row, row - left, top - left);
    set(top, 1, 1);
    for (int64_t row = top; row < right; ++row) set(row, right - row, right - top);
  }
  n.Out(n.Cast(n.Literal(Constant::Copy(DType::kF64, {rows, bands}, weights.data())), dtype));
}

// HannWindow, HammingWindow, BlackmanWindow: sums of cosines.
void ConvertWindow(Node& n) {
  const Dim size = n.SizeIn(0);
  const DType dtype = n.TypeAttribute("output_datatype", DType::kF32);
  if (n.failed()) return;
  if (!size.is_constant()) return n.Unsupported("a window of unknown size");
  if (size.constant() < 0 || size.constant() > KnownValues::kMaxElements)
    return n.Unsupported("a window of {0} elements", size.constant());
  const bool is_periodic = n.Int("periodic", 1) != 0;
  const auto length = static_cast<double>(size.constant() - (is_periodic ? 0 : 1));
  const double a0 = n.op_type() == "HannWindow"      ? 0.5
                    : n.op_type() == "HammingWindow" ? 25.0 / 46.0
                                                     : 0.42;
  const double a2 = n.op_type() == "BlackmanWindow" ? 0.08 : 0;
  const double a1 = n.op_type() == "BlackmanWindow" ? 0.5 : 1 - a0;
  std::vector<double> values;
  for (int64_t i = 0; i < size.constant(); ++i) {
    const double angle = length == 0 ? 0 : 2 * M_PI * static_cast<double>(i) / length;
    values.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  n.Out(n.Cast(n.Literal(Constant::Copy(DType::kF64, {size.constant()}, values.data())), dtype));
}

}  // namespace

llvm::ArrayRef<OnnxRule> ConstantRules() {
  static const OnnxRule kRules[] = {
      {"Constant", ConvertConstant},     {"ConstantOfShape", ConvertConstantOfShape},
      {"Range", ConvertRange},           {"EyeLike", ConvertEyeLike},
      {"HannWindow", ConvertWindow},     {"HammingWindow", ConvertWindow},
      {"BlackmanWindow", ConvertWindow}, {"MelWeightMatrix", ConvertMelWeightMatrix}};
  return kRules;
}

}  // namespace pdl
