#include "llvm/ADT/DenseMap.h"
#include "pdl/compiler/passes.h"

namespace pdl {

void ForwardSingleOperands(Graph& graph) {
  auto gives_its_operand = [](const Op& op) {
    return op.def().properties().is_identity && op.operands().size() == 1 && op.checks().empty() &&
           op.operands()[0]->type() == op.result()->type();
  };
  llvm::DenseMap<Value*, Value*> given;
  std::vector<std::pair<Value*, Value*>> replacements;
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Op* op : graph.block({i}).ops) {
      if (!gives_its_operand(*op)) continue;
      // Definitions precede uses.
      Value* operand = op->operands()[0];
      if (auto earlier = given.find(operand); earlier != given.end()) operand = earlier->second;
      given[op->result()] = operand;
      replacements.emplace_back(op->result(), operand);
    }
  }
  if (!replacements.empty()) graph.ReplaceAllUses(replacements);
}

}  // namespace pdl
