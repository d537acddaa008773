// Tensors that are made from nothing.
#include <cmath>

#include "onnx/node.h"
#include "onnx/rules.h"

namespace pdl {
namespace {

void ConvertConstant(Node& n) {
  if (const auto* value = n.Attribute("value")) {
    llvm::Expected<Constant> constant = n.importer().model().ReadTensor(value->t());
    if (!constant) return n.Take(constant.takeError());
    llvm::Expected<Value*> made = n.importer().AddConstant(
        std::move(*constant), n.num_outputs() > 0 ? n.proto().output(0) : "value");
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
  n.Unsupported("a constant of another kind (a sparse tensor)");
}

// The one element of the attribute; 0 of f32 where there is none.
std::pair<double, DType> FillValue(Node& n) {
  const auto* value = n.Attribute("value");
  if (value == nullptr) return {0, DType::kF32};
  llvm::Expected<Constant> constant = n.importer().model().ReadTensor(value->t());
  if (!constant) {
    n.Take(constant.takeError());
    return {0, DType::kF32};
  }
  if (constant->num_elements() != 1) n.Fail("value must have one element");
  return {constant->num_elements() == 1 ? constant->ElementAsDouble(0) : 0, constant->dtype()};
}

void ConvertConstantOfShape(Node& n) {
  const Shape dims = n.SizesIn(0);
  const auto [value, dtype] = FillValue(n);
  for (const Dim& dim : dims)
    if (dim.is_constant() && dim.constant() < 0) return n.Fail("a dim is below 0");
  n.Out(n.Filled(dims, value, dtype));
}

void ConvertRange(Node& n) {
  Value* start = n.In(0);
  if (start == nullptr) return;
  const DType dtype = start->type().dtype;
  if (!IsFloat(dtype)) {
    const Dim from = n.SizeIn(0), to = n.SizeIn(1);
    const int64_t step = n.IntIn(2);
    if (!n.failed() && step == 0) return n.Fail("a step of 0");
    return n.Out(n.Cast(
        n.Call("range", {}, {{"start", Shape{from}}, {"stop", Shape{to}}, {"step", step}}), dtype));
  }
  const double from = n.RealIn(0), to = n.RealIn(1), step = n.RealIn(2);
  if (n.failed()) return;
  const double count = std::max(0.0, std::ceil((to - from) / step));
  if (!(count < 1e9)) return n.Fail("a range without an end");
  Value* places =
      n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{static_cast<int64_t>(count)}}});
  n.Out(n.Add(n.Mul(n.Cast(places, dtype), n.Scalar(step, dtype)), n.Scalar(from, dtype)));
}

void ConvertEyeLike(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const DType dtype = n.TypeAttribute("dtype", x->type().dtype);
  if (x->type().rank() != 2) return n.Fail("a matrix is wanted");
  n.Out(n.Cast(
      n.Call("eye", {}, {{"dims", x->type().dims}, {"dtype", DType::kF32}, {"k", n.Int("k", 0)}}),
      dtype));
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
      {"Constant", ConvertConstant},    {"ConstantOfShape", ConvertConstantOfShape},
      {"Range", ConvertRange},          {"EyeLike", ConvertEyeLike},
      {"HannWindow", ConvertWindow},    {"HammingWindow", ConvertWindow},
      {"BlackmanWindow", ConvertWindow}};
  return kRules;
}

}  // namespace pdl
