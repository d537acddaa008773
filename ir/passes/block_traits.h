#ifndef PDL_IR_PASSES_BLOCK_TRAITS_H_
#define PDL_IR_PASSES_BLOCK_TRAITS_H_

#include <cstdint>
#include <vector>

#include "pdl/graph.h"

namespace pdl {

/// For each block of the graph the Trait bits that its calls have, blocks that they name included.
std::vector<uint8_t> TraitsOfBlocks(const Graph& graph);
/// The Trait bits of a call and of the blocks that it names.
uint8_t TraitsOf(const Op& op, llvm::ArrayRef<uint8_t> traits_of_blocks);

}  // namespace pdl

#endif  // PDL_IR_PASSES_BLOCK_TRAITS_H_
