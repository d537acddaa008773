// Activations, softmax and related normalizations of an axis.
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

void ConvertElu(Node& n) { n.Out(n.Call("elu", {n.In(0)}, {{"alpha", n.Float("alpha", 1)}})); }

// Any alpha: that of pdl's celu must be positive.
void ConvertCelu(Node& n) {
  const double alpha = n.Float("alpha", 1);
  Value* x = n.In(0);
  if (alpha > 0) return n.Out(n.Call("celu", {x}, {{"alpha", alpha}}));
  Value* below = n.Mul(n.Scalar(alpha, x), n.Call("expm1", {n.Div(x, n.Scalar(alpha, x))}));
  n.Out(n.Add(n.Call("relu", {x}), n.Call("minimum", {n.Scalar(0, x), below})));
}

void ConvertSelu(Node& n) {
  constexpr double kAlpha = 1.67326319217681884765625, kGamma = 1.05070102214813232421875;
  const double alpha = n.Float("alpha", kAlpha), gamma = n.Float("gamma", kGamma);
  Value* x = n.In(0);
  if (alpha == kAlpha && gamma == kGamma) return n.Out(n.Call("selu", {x}));
  n.Out(n.Mul(n.Call("elu", {x}, {{"alpha", alpha}}), n.Scalar(gamma, x)));
}

void ConvertLeakyRelu(Node& n) {
  n.Out(n.Call("leaky_relu", {n.In(0)}, {{"alpha", n.Float("alpha", 0.01)}}));
}

void ConvertThresholdedRelu(Node& n) {
  n.Out(n.Call("thresholded_relu", {n.In(0)}, {{"alpha", n.Float("alpha", 1)}}));
}

void ConvertHardSigmoid(Node& n) {
  n.Out(n.Call("hard_sigmoid", {n.In(0)},
               {{"alpha", n.Float("alpha", 0.2)}, {"beta", n.Float("beta", 0.5)}}));
}

void ConvertGelu(Node& n) {
  const bool approximate = n.String("approximate", "none") == "tanh";
  n.Out(n.Call("gelu", {n.In(0)}, {{"approximate", approximate}}));
}

void ConvertSwish(Node& n) {
  const double alpha = n.Float("alpha", 1);
  Value* x = n.In(0);
  if (alpha == 1) return n.Out(n.Call("silu", {x}));
  n.Out(n.Mul(x, n.Call("sigmoid", {n.Mul(x, n.Scalar(alpha, x))})));
}

void ConvertShrink(Node& n) {
  const double bias = n.Float("bias", 0), threshold = n.Float("lambd", 0.5);
  Value* x = n.In(0);
  if (x == nullptr) return;
  const DType dtype = x->type().dtype;
  if (!IsFloat(dtype)) x = n.Cast(x, DType::kF64);
  n.Out(n.Cast(n.Call("shrink", {x}, {{"threshold", threshold}, {"bias", bias}}), dtype));
}

// The slope broadcasts to x; before version 7, one with a single dim is for the channels.
void ConvertPRelu(Node& n) {
  Value* x = n.In(0);
  Value* slope = n.In(1);
  if (x == nullptr || slope == nullptr) return;
  const unsigned rank = x->type().rank();
  if (n.opset() < 7 && slope->type().rank() == 1 && rank > 1) {
    Shape dims = {slope->type().dims[0]};
    while (dims.size() < rank - 1) dims.emplace_back(1);
    slope = n.Reshape(slope, dims);
  }
  if (IsFloat(x->type().dtype)) return n.Out(n.Call("prelu", {x, slope}));
  n.Out(n.Call("where", {n.Call("less", {x, n.Scalar(0, x)}), n.Mul(x, slope), x}));
}

// Before version 13, softmax normalizes over the axis and all dims after it.
void ConvertSoftmax(Node& n) {
  const bool is_old = n.opset() < 13;
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned axis = n.Axis(n.Int("axis", is_old ? 1 : -1), std::max(1u, x->type().rank()));
  if (x->type().rank() == 0) {
    return n.Unsupported("a scalar has no axis");
  }
  const Shape dims = x->type().dims;
  const bool is_joined = is_old && axis + 1 < dims.size();
  if (is_joined) {
    Shape joined(dims.begin(), dims.begin() + axis);
    joined.push_back(NumElements(llvm::ArrayRef<Dim>(dims).drop_front(axis)));
    x = n.Reshape(x, joined);
  }
  Value* y = nullptr;
  const std::vector<NamedAttribute> along = {{"axis", static_cast<int64_t>(axis)}};
  if (n.op_type() == "Hardmax") {
    Value* index = n.Call("argmax", {x}, {{"axis", static_cast<int64_t>(axis)}, {"keep", true}});
    if (index == nullptr) return;
    Value* count =
        n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{x->type().dims[axis]}}});
    Shape line(x->type().rank() - axis, Dim(1));
    line[0] = x->type().dims[axis];
    y = n.Cast(n.Call("equal", {n.Reshape(count, line), index}), x->type().dtype);
  } else {
    y = n.Call(n.op_type() == "Softmax" ? "softmax" : "log_softmax", {x}, along);
  }
  n.Out(is_joined ? n.Reshape(y, dims) : y);
}

}  // namespace

llvm::ArrayRef<OnnxRule> ActivationRules() {
  static const OnnxRule kRules[] = {{"Elu", ConvertElu},
                                    {"Celu", ConvertCelu},
                                    {"Selu", ConvertSelu},
                                    {"LeakyRelu", ConvertLeakyRelu},
                                    {"ThresholdedRelu", ConvertThresholdedRelu},
                                    {"HardSigmoid", ConvertHardSigmoid},
                                    {"Gelu", ConvertGelu},
                                    {"Swish", ConvertSwish},
                                    {"Shrink", ConvertShrink},
                                    {"PRelu", ConvertPRelu},
                                    {"Softmax", ConvertSoftmax},
                                    {"LogSoftmax", ConvertSoftmax},
                                    {"Hardmax", ConvertSoftmax}};
  return kRules;
}

}  // namespace pdl
