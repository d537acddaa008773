// Export of normalization and quantization.
#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

Exported Standardize(ExportCall& c) {
  const DType dtype = WideDType(c.dtype());
  const std::string x = c.In(0, dtype);
  std::vector<int64_t> axes;
  for (int64_t i = c.Axis("axis", c.type(0).rank()); i < c.type(0).rank(); ++i) axes.push_back(i);
  const bool center = c.attributes().Bool("center");
  const std::string off = center ? c.Node("Sub", {x, c.Reduce("ReduceMean", x, axes, true)}) : x;
  const std::string variance = c.Reduce("ReduceMean", c.Node("Mul", {off, off}), axes, true);
  const std::string eps = c.Scalar(c.attributes().Float("eps"), dtype);
  std::string y = c.Node("Div", {off, c.Node("Sqrt", {c.Node("Add", {variance, eps})})});
  if (const auto gamma = c.Find("gamma")) y = c.Node("Mul", {y, c.In(*gamma, dtype)});
  if (const auto beta = c.Find("beta")) y = c.Node("Add", {y, c.In(*beta, dtype)});
  return c.Out(y, dtype);
}

/// Reshapes a vector so that it broadcasts along axis `axis` of a tensor of `rank` dims.
std::string Along(ExportCall& c, const std::string& x, int64_t axis, unsigned rank) {
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - axis; ++i) axes.push_back(i);
  return c.Unsqueeze(x, axes);
}

/// BatchNormalization if the axis is that of channels, else the formula.
Exported Normalize(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const unsigned rank = c.type(0).rank();
  const int64_t axis = c.Axis("axis", rank);
  const auto gamma = c.Find("gamma"), beta = c.Find("beta");
  const std::string x = c.In(0, dtype), mean = c.In(1, dtype), variance = c.In(2, dtype);
  const bool one_gamma = gamma && c.type(*gamma).is_scalar();
  // The attribute is an f32.
  const double epsilon = c.attributes().Float("eps");
  const bool is_exact = dtype != DType::kF64 || static_cast<float>(epsilon) == epsilon;
  if (axis == 1 && gamma && beta && !one_gamma && rank >= 2 && is_exact) {
    return c.Out(
        c.Node("BatchNormalization", {x, c.In(*gamma, dtype), c.In(*beta, dtype), mean, variance},
               {{"epsilon", epsilon}}),
        dtype);
  }
  const std::string eps = c.Scalar(epsilon, dtype);
  const std::string deviation = c.Node("Sqrt", {c.Node("Add", {variance, eps})});
  std::string y = c.Node("Sub", {x, Along(c, mean, axis, rank)});
  y = c.Node("Div", {y, Along(c, deviation, axis, rank)});
  if (gamma) {
    const std::string factor = c.In(*gamma, dtype);
    y = c.Node("Mul", {y, one_gamma ? factor : Along(c, factor, axis, rank)});
  }
  if (beta) y = c.Node("Add", {y, Along(c, c.In(*beta, dtype), axis, rank)});
  return c.Out(y, dtype);
}

/// QuantizeLinear for f32; the formula for all other dtypes, most of which ONNX does not support.
Exported Quantize(ExportCall& c) {
  const DType dtype = c.type(0).dtype == DType::kF32 ? DType::kF32 : DType::kF64;
  const unsigned rank = c.type(0).rank();
  const int64_t axis = c.type(1).is_scalar() ? 0 : c.Axis("axis", rank);
  const bool is_signed = c.dtype() == DType::kI8;
  const bool has_zero = c.num_inputs() > 2;
  if (dtype == DType::kF32) {
    const std::string zero = has_zero ? c.In(2) : c.Scalar(0, c.dtype());
    if (has_zero || c.type(1).is_scalar())
      return c.Node("QuantizeLinear", {c.In(0), c.In(1), zero}, {{"axis", axis}});
  }
  const auto along_axis = [&](const std::string& name) {
    return c.type(1).is_scalar() ? name : Along(c, name, axis, rank);
  };
  std::string y = c.Node("Div", {c.In(0, dtype), along_axis(c.In(1, dtype))});
  y = c.Node("Round", {y});
  if (has_zero) y = c.Node("Add", {y, along_axis(c.In(2, dtype))});
  y = c.Node("Clip",
             {y, c.Scalar(is_signed ? -128 : 0, dtype), c.Scalar(is_signed ? 127 : 255, dtype)});
  return c.Cast(y, c.dtype());
}

Exported Dequantize(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const unsigned rank = c.type(0).rank();
  const bool is_scalar = c.type(1).is_scalar();
  const int64_t axis = is_scalar ? 0 : c.Axis("axis", rank);
  const auto along_axis = [&](const std::string& name) {
    return is_scalar ? name : Along(c, name, axis, rank);
  };
  if (c.dtype() == DType::kF32) {
    std::vector<std::string> inputs = {c.In(0), c.In(1)};
    if (c.num_inputs() > 2) inputs.push_back(c.In(2));
    // The zero point of DequantizeLinear is always 0 for i32.
    if (c.num_inputs() == 2 || c.type(0).dtype != DType::kI32)
      return c.Node("DequantizeLinear", inputs, {{"axis", axis}});
  }
  std::string y = c.In(0, dtype);
  if (c.num_inputs() > 2) y = c.Node("Sub", {y, along_axis(c.In(2, dtype))});
  return c.Out(c.Node("Mul", {y, along_axis(c.In(1, dtype))}), dtype);
}

constexpr ExportRule kNormalizationRules[] = {
    {"standardize", Standardize},
    {"normalize", Normalize},
    {"quantize", Quantize},
    {"dequantize", Dequantize},
};

}  // namespace

llvm::ArrayRef<ExportRule> NormalizationExportRules() { return kNormalizationRules; }

}  // namespace pdl
