#include "ir/passes/block_effects.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"

namespace pdl {

void EliminateDeadCode(Graph& graph) {
  const std::vector<CallEffects> effects = EffectsOfBlocks(graph);
  ValueSet useful(graph);
  InsertNetworkResults(graph, useful);
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
