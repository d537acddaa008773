#include "ir/passes/block_effects.h"

namespace pdl {
namespace {

CallEffects OwnEffects(const Op& op) {
  const OpProperties& properties = op.def().properties();
  return {properties.random, properties.has_side_effect,
          properties.is_training_flag || properties.is_plan_select};
}

}  // namespace

CallEffects EffectsOf(const Op& op, llvm::ArrayRef<CallEffects> effects_of_blocks) {
  CallEffects effects = OwnEffects(op);
  for (const AttributeValue& value : op.attribute_values())
    if (const BlockId* block = std::get_if<BlockId>(&value))
      effects |= effects_of_blocks[block->index];
  return effects;
}

std::vector<CallEffects> EffectsOfBlocks(const Graph& graph) {
  std::vector<CallEffects> effects(graph.num_blocks());
  // Calls that reference blocks; each iteration propagates effects by at least one level of
  // nesting.
  std::vector<const Op*> callers;
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Op* op : graph.block({i}).ops) {
      effects[i] |= OwnEffects(*op);
      if (llvm::any_of(op->attribute_values(), [](const AttributeValue& value) {
            return std::holds_alternative<BlockId>(value);
          }))
        callers.push_back(op);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Op* op : callers) {
      CallEffects& outer = effects[op->block().index];
      const CallEffects before = outer;
      outer |= EffectsOf(*op, effects);
      changed |= outer != before;
    }
  }
  return effects;
}

}  // namespace pdl
