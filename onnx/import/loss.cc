// Losses.
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

/// Moves the classes from axis 1 to the end.
Value* ClassesLast(Node& n, Value* x) {
  if (x == nullptr) return nullptr;
  std::vector<int64_t> perm = {0};
  for (unsigned i = 2; i < x->type().rank(); ++i) perm.push_back(i);
  perm.push_back(1);
  return n.Transpose(x, perm);
}

void EmitLoss(Node& n, Value* log_prob, Value* label, Value* weight) {
  if (log_prob == nullptr || label == nullptr || n.failed()) return;
  std::vector<Value*> operands = {log_prob, n.Cast(label, DType::kI64)};
  if (weight != nullptr) operands.push_back(weight);
  std::vector<NamedAttribute> attributes;
  if (n.HasAttribute("ignore_index"))
    attributes.push_back({"ignore_index", n.Int("ignore_index", 0)});
  Value* loss = n.Call("nll", operands, attributes);
  const std::string reduction = n.String("reduction", "mean");
  if (reduction == "none") return n.Out(0, loss);
  Value* sum = n.Call("sum", {loss});
  if (reduction == "sum") return n.Out(0, sum);
  // The mean is weighted by the weights of the classes, without ignored rows.
  std::vector<Value*> counted = {n.Mul(log_prob, n.Scalar(0, log_prob)), operands[1]};
  Value* ones = n.Sub(counted[0], n.Scalar(1, log_prob));
  counted[0] = ones;
  if (weight != nullptr) counted.push_back(weight);
  Value* count = n.Call("sum", {n.Call("nll", counted, attributes)});
  n.Out(0, n.Div(sum, count));
}

void ConvertNegativeLogLikelihoodLoss(Node& n) {
  Value* x = n.In(0);
  Value* label = n.In(1);
  Value* weight = n.OptionalIn(2);
  EmitLoss(n, ClassesLast(n, x), label, weight);
}

void ConvertSoftmaxCrossEntropyLoss(Node& n) {
  Value* x = n.In(0);
  Value* label = n.In(1);
  Value* weight = n.OptionalIn(2);
  Value* log_prob = n.Call("log_softmax", {x}, {{"axis", int64_t{1}}});
  EmitLoss(n, ClassesLast(n, log_prob), label, weight);
  n.Out(1, log_prob);
}

}  // namespace

llvm::ArrayRef<OnnxRule> LossRules() {
  static const OnnxRule kRules[] = {{"NegativeLogLikelihoodLoss", ConvertNegativeLogLikelihoodLoss},
                                    {"SoftmaxCrossEntropyLoss", ConvertSoftmaxCrossEntropyLoss}};
  return kRules;
}

}  // namespace pdl
