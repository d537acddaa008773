#include "ir/passes/block_effects.h"

namespace pdl {
namespace {

CallEffects OwnEffects(const Op& op) {
  const OpProperties& properties = op.def().properties();
  return {properties.random, properties.has_side_effect,
          properties.is_training_flag || properties.is_plan_select};
}

/// The index of the attribute `stream` of a random operator, or -1.
int StreamAttribute(const Op& op) {
  return op.def().properties().random ? op.def().signature.FindAttribute("stream") : -1;
}

}  // namespace

llvm::StringRef StreamOf(const Op& op) {
  const int index = StreamAttribute(op);
  const auto* given =
      index < 0 ? nullptr
                : std::get_if<std::string>(&op.attribute_values()[static_cast<size_t>(index)]);
  return given && !given->empty() ? llvm::StringRef(*given) : llvm::StringRef(op.result()->name());
}

std::vector<AttributeValue> AttributesWithStream(const Op& op) {
  std::vector<AttributeValue> values = op.attribute_values().vec();
  if (const int index = StreamAttribute(op); index >= 0)
    values[static_cast<size_t>(index)] = StreamOf(op).str();
  return values;
}

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

bool IsIndependentOfSizes(const Op& op) {
  const auto is_constant = [](const Shape& shape) {
    return llvm::all_of(shape, [](const Dim& dim) { return dim.is_constant(); });
  };
  const auto is_fixed = [&](const AttributeValue& value) {
    if (const Shape* shape = std::get_if<Shape>(&value)) return is_constant(*shape);
    if (const auto* shapes = std::get_if<std::vector<Shape>>(&value))
      return llvm::all_of(*shapes, is_constant);
    return !std::holds_alternative<BlockId>(value);
  };
  return llvm::all_of(op.attribute_values(), is_fixed) &&
         llvm::all_of(op.results(),
                      [&](const Value* result) { return is_constant(result->type().dims); });
}

}  // namespace pdl
