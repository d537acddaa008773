#include "ir/passes/block_traits.h"

namespace pdl {

uint8_t TraitsOf(const Op& op, llvm::ArrayRef<uint8_t> traits_of_blocks) {
  uint8_t traits = op.def().signature.traits;
  for (const AttributeValue& value : op.attribute_values())
    if (const BlockId* block = std::get_if<BlockId>(&value))
      traits |= traits_of_blocks[block->index];
  return traits;
}

std::vector<uint8_t> TraitsOfBlocks(const Graph& graph) {
  std::vector<uint8_t> traits(graph.num_blocks(), 0);
  // The calls that name blocks; a round passes bits up by at least one level of nesting.
  std::vector<const Op*> callers;
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Op* op : graph.block({i}).ops) {
      traits[i] |= op->def().signature.traits;
      if (llvm::any_of(op->attribute_values(), [](const AttributeValue& value) {
            return std::holds_alternative<BlockId>(value);
          }))
        callers.push_back(op);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Op* op : callers) {
      uint8_t& outer = traits[op->block().index];
      uint8_t with_inner = outer | TraitsOf(*op, traits);
      changed |= with_inner != outer;
      outer = with_inner;
    }
  }
  return traits;
}

}  // namespace pdl
