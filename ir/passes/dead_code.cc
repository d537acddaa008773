#include "ir/passes/block_effects.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"

namespace pdl {

void EliminateDeadCode(Graph& graph) {
  const std::vector<CallEffects> effects = EffectsOfBlocks(graph);
  ValueSet useful(graph);
  for (const GraphOutput& output : graph.outputs()) useful.insert(output.value);
  for (const GraphUpdate& update : graph.updates()) useful.insert(update.value);
  for (const GraphTraining& training : graph.trainings()) {
    useful.insert(training.loss);
    for (const GraphUpdate& update : training.updates) useful.insert(update.value);
  }
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) useful.InsertAll(graph.block({i}).outputs);

  auto has_effect = [&](const Op& op) { return EffectsOf(op, effects).side_effect; };
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    PropagateBackward(graph.block({i}).ops, useful, has_effect, [&](const Op& op) {
      useful.InsertAll(op.operands());
      graph.ForEachDefiner(op, [&](const Op* definer) { useful.insert(definer->result()); });
    });
    graph.EraseOps(
        {i}, [&](const Op& op) { return !useful.ContainsAny(op.results()) && !has_effect(op); });
  }
}

}  // namespace pdl
