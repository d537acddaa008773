// Export of activations.
#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

OnnxAttribute Float(ExportCall& c, llvm::StringRef name) {
  return {name.str(), c.attributes().Float(name)};
}

Exported Elu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("Elu", {c.In(0, dtype)}, {Float(c, "alpha")}), dtype);
}

Exported LeakyRelu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("LeakyRelu", {c.In(0, dtype)}, {Float(c, "alpha")}), dtype);
}

Exported ThresholdedRelu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("ThresholdedRelu", {c.In(0, dtype)}, {Float(c, "alpha")}), dtype);
}

Exported HardSigmoid(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("HardSigmoid", {c.In(0, dtype)}, {Float(c, "alpha"), Float(c, "beta")}),
               dtype);
}

Exported Selu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("Selu", {c.In(0, dtype)}), dtype);
}

/// In ONNX it exists only for f32.
Exported Celu(ExportCall& c) {
  return c.Out(c.Node("Celu", {c.In(0, DType::kF32)}, {Float(c, "alpha")}), DType::kF32);
}

Exported Gelu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
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
