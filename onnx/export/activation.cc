// Export of activations.
#include <cmath>

#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

OnnxAttribute Float(ExportCall& c, llvm::StringRef name) {
  return {name.str(), c.attributes().Float(name)};
}

/// ONNX's float attributes are f32, and Celu exists only for it. In f64, activations are formulas,
/// so that results keep their accuracy.
bool IsDouble(ExportCall& c) { return c.dtype() == DType::kF64; }

std::string Number(ExportCall& c, llvm::StringRef attribute) {
  return c.Scalar(c.attributes().Float(attribute), DType::kF64);
}

/// `below` where x is negative, else x * `scale`.
Exported Piecewise(ExportCall& c, const std::string& x, const std::string& below,
                   double scale = 1) {
  const std::string is_below = c.Node("Less", {x, c.Scalar(0, DType::kF64)});
  const std::string above = scale == 1 ? x : c.Node("Mul", {x, c.Scalar(scale, DType::kF64)});
  return c.Out(c.Node("Where", {is_below, below, above}), DType::kF64);
}

/// exp(x) - 1, without the infinities of positive x.
std::string Expm1(ExportCall& c, const std::string& x) {
  const std::string most = c.Node("Min", {x, c.Scalar(0, DType::kF64)});
  return c.Node("Sub", {c.Node("Exp", {most}), c.Scalar(1, DType::kF64)});
}

Exported Elu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  if (IsDouble(c)) return Piecewise(c, x, c.Node("Mul", {Expm1(c, x), Number(c, "alpha")}));
  return c.Out(c.Node("Elu", {x}, {Float(c, "alpha")}), dtype);
}

Exported LeakyRelu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  if (IsDouble(c)) return Piecewise(c, x, c.Node("Mul", {x, Number(c, "alpha")}));
  return c.Out(c.Node("LeakyRelu", {x}, {Float(c, "alpha")}), dtype);
}

Exported ThresholdedRelu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  if (!IsDouble(c)) return c.Out(c.Node("ThresholdedRelu", {x}, {Float(c, "alpha")}), dtype);
  const std::string is_low = c.Node("LessOrEqual", {x, Number(c, "alpha")});
  return c.Out(c.Node("Where", {is_low, c.Scalar(0, dtype), x}), dtype);
}

Exported HardSigmoid(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  if (!IsDouble(c))
    return c.Out(c.Node("HardSigmoid", {x}, {Float(c, "alpha"), Float(c, "beta")}), dtype);
  const std::string line =
      c.Node("Add", {c.Node("Mul", {x, Number(c, "alpha")}), Number(c, "beta")});
  return c.Out(c.Node("Clip", {line, c.Scalar(0, dtype), c.Scalar(1, dtype)}), dtype);
}

Exported Selu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  if (!IsDouble(c)) return c.Out(c.Node("Selu", {x}), dtype);
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  const std::string factor = c.Scalar(kScale * kAlpha, dtype);
  return Piecewise(c, x, c.Node("Mul", {Expm1(c, x), factor}), kScale);
}

Exported Celu(ExportCall& c) {
  if (!IsDouble(c))
    return c.Out(c.Node("Celu", {c.In(0, DType::kF32)}, {Float(c, "alpha")}), DType::kF32);
  const std::string x = c.In(0), alpha = Number(c, "alpha");
  return Piecewise(c, x, c.Node("Mul", {Expm1(c, c.Node("Div", {x, alpha})), alpha}));
}

Exported Gelu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  if (IsDouble(c) && c.attributes().Bool("approximate")) {
    const auto times = [&](const std::string& a, double b) {
      return c.Node("Mul", {a, c.Scalar(b, dtype)});
    };
    const std::string x = c.In(0), cube = c.Node("Mul", {x, c.Node("Mul", {x, x})});
    const std::string bend = c.Node("Add", {x, times(cube, 0.044715)});
    const std::string tanh = c.Node("Tanh", {times(bend, std::sqrt(2 / M_PI))});
    return c.Node("Mul", {times(x, 0.5), c.Node("Add", {tanh, c.Scalar(1, dtype)})});
  }
  const std::string kind = c.attributes().Bool("approximate") ? "tanh" : "none";
  return c.Out(c.Node("Gelu", {c.In(0, dtype)}, {{"approximate", kind}}), dtype);
}

Exported Silu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  return c.Out(c.Node("Mul", {x, c.Node("Sigmoid", {x})}), dtype);
}

Exported LogSigmoid(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("Neg", {c.Node("Softplus", {c.Node("Neg", {c.In(0, dtype)})})}), dtype);
}

Exported Prelu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype), slope = c.In(1, dtype);
  // ONNX broadcasts only the slope, not x.
  if (c.type(0).dims == c.result().dims) return c.Out(c.Node("PRelu", {x, slope}), dtype);
  const std::string is_below = c.Node("Less", {x, c.Scalar(0, dtype)});
  return c.Out(c.Node("Where", {is_below, c.Node("Mul", {x, slope}), x}), dtype);
}

Exported Shrink(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  if (IsDouble(c)) {
    const std::string x = c.In(0), bias = Number(c, "bias"), zero = c.Scalar(0, dtype);
    const std::string shrunk = c.Node(
        "Where", {c.Node("Less", {x, zero}), c.Node("Add", {x, bias}), c.Node("Sub", {x, bias})});
    const std::string is_low = c.Node("LessOrEqual", {c.Node("Abs", {x}), Number(c, "threshold")});
    return c.Out(c.Node("Where", {is_low, zero, shrunk}), dtype);
  }
  return c.Out(c.Node("Shrink", {c.In(0, dtype)},
                      {{"lambd", c.attributes().Float("threshold")}, Float(c, "bias")}),
               dtype);
}

Exported Softmax(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const llvm::StringRef type = c.op().type() == "softmax" ? "Softmax" : "LogSoftmax";
  return c.Out(c.Node(type, {c.In(0, dtype)}, {{"axis", c.Axis("axis", c.type(0).rank())}}), dtype);
}

constexpr ExportRule kActivationRules[] = {
    {"elu", Elu},
    {"leaky_relu", LeakyRelu},
    {"thresholded_relu", ThresholdedRelu},
    {"hard_sigmoid", HardSigmoid},
    {"selu", Selu},
    {"celu", Celu},
    {"gelu", Gelu},
    {"silu", Silu},
    {"log_sigmoid", LogSigmoid},
    {"prelu", Prelu},
    {"shrink", Shrink},
    {"softmax", Softmax},
    {"log_softmax", Softmax},
};

}  // namespace

llvm::ArrayRef<ExportRule> ActivationExportRules() { return kActivationRules; }

}  // namespace pdl
