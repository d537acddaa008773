#include "ir/passes/block_effects.h"
#include "llvm/ADT/BitVector.h"
#include "pdl/passes.h"

namespace pdl {

void EliminateDeadCode(Graph& graph) {
  const std::vector<CallEffects> effects = EffectsOfBlocks(graph);
  llvm::BitVector needed(graph.num_values());
  auto need = [&](const Value* value) { needed.set(graph.number(value)); };
  for (const GraphOutput& output : graph.outputs()) need(output.value);
  for (const GraphUpdate& update : graph.updates()) need(update.value);
  for (const GraphTraining& training : graph.trainings()) {
    need(training.loss);
    for (const GraphUpdate& update : training.updates) need(update.value);
  }
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    for (const Value* output : graph.block({i}).outputs) need(output);

  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    // Calls stand after what they read, so that one sweep from the end sees every use first.
    llvm::ArrayRef<Op*> ops = graph.block({i}).ops;
    auto is_live = [&](const Op& op) {
      return EffectsOf(op, effects).side_effect ||
             llvm::any_of(op.results(),
                          [&](const Value* result) { return needed[graph.number(result)]; });
    };
    for (const Op* op : llvm::reverse(ops)) {
      if (!is_live(*op)) continue;
      llvm::for_each(op->operands(), need);
      graph.ForEachDefiner(*op, [&](const Op* definer) { need(definer->result()); });
    }
    graph.EraseOps({i}, [&](const Op& op) { return !is_live(op); });
  }
}

}  // namespace pdl
