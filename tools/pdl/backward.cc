#include "tools/pdl/backward.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/gradient.h"

namespace pdl {

llvm::Expected<std::vector<Value*>> Backward(Graph& graph, llvm::ArrayRef<Value*> outputs,
                                             llvm::ArrayRef<Value*> cotangents,
                                             llvm::ArrayRef<Value*> wrt) {
  const OpRegistry& registry = GlobalRegistry();
  llvm::DenseSet<const Value*> moves(wrt.begin(), wrt.end());
  const std::vector<Op*> ops = graph.ops().vec();
  for (const Op* op : ops) {
    if (!llvm::any_of(op->operands(), [&](const Value* v) { return moves.contains(v); })) continue;
    for (const Value* result : op->results())
      if (IsFloat(result->type().dtype)) moves.insert(result);
  }
  llvm::DenseMap<const Value*, Value*> gradients;
  const auto add = [&](const Value* value, Value* gradient) -> llvm::Error {
    Value*& sum = gradients[value];
    if (sum != nullptr) {
      auto op = graph.AddOp(*registry.Find("add"), {sum, gradient}, {}, {graph.NewName("sum")});
      if (!op) return op.takeError();
      gradient = (*op)->result();
    }
    gradients[value] = gradient;
    return llvm::Error::success();
  };
  for (size_t i = 0; i < outputs.size(); ++i)
    if (llvm::Error error = add(outputs[i], cotangents[i])) return error;
  for (Op* op : llvm::reverse(ops)) {
    std::vector<Value*> output_gradients;
    for (const Value* result : op->results())
      output_gradients.push_back(moves.contains(result) ? gradients.lookup(result) : nullptr);
    if (llvm::none_of(output_gradients, [](Value* gradient) { return gradient != nullptr; }))
      continue;
    if (op->def().gradient == nullptr)
      return llvm::createStringError("it uses '" + op->type() + "', which has no rule");
    GradientContext context(graph, registry, *op, output_gradients);
    op->def().gradient(context);
    if (llvm::Error error = context.TakeError()) return error;
    for (unsigned k = 0; k < op->operands().size(); ++k) {
      Value* gradient = context.input_gradients()[k];
      const Value* operand = op->operands()[k];
      if (gradient == nullptr || !moves.contains(operand)) continue;
      if (gradient->type() != operand->type()) {
        return llvm::createStringError("the gradient of operand " + std::to_string(k) + " of '" +
                                       op->type() + "' is " + gradient->type().ToString() +
                                       ", the operand " + operand->type().ToString());
      }
      if (llvm::Error error = add(operand, gradient)) return error;
    }
  }
  std::vector<Value*> found;
  for (const Value* value : wrt) found.push_back(gradients.lookup(value));
  return found;
}

}  // namespace pdl
