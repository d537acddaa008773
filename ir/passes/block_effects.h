#ifndef PDL_IR_PASSES_BLOCK_EFFECTS_H_
#define PDL_IR_PASSES_BLOCK_EFFECTS_H_

#include <vector>

#include "pdl/compiler/graph.h"

namespace pdl {

/// Properties that prevent passes from moving, merging or folding a call, including those of the
/// calls in blocks that it references.
struct CallEffects {
  /// OpProperties::random.
  bool random = false;
  /// OpProperties::has_side_effect.
  bool side_effect = false;
  /// Its results depend on values that only a Plan knows: is_training_flag, is_plan_select.
  bool decided_by_plan = false;

  bool IsRepeatable() const { return !random && !side_effect; }
  CallEffects& operator|=(const CallEffects& other) {
    random |= other.random;
    side_effect |= other.side_effect;
    decided_by_plan |= other.decided_by_plan;
    return *this;
  }
  bool operator==(const CallEffects&) const = default;
};

/// Returns the effects of the calls of each block.
std::vector<CallEffects> EffectsOfBlocks(const Graph& graph);
/// The name of the random stream of a call of a random operator: its attribute `stream` or, if that
/// is empty, the name of its first result.
llvm::StringRef StreamOf(const Op& op);
/// The attributes for a copy of a call that computes the same values: those of the call, with the
/// stream of its random numbers.
std::vector<AttributeValue> AttributesWithStream(const Op& op);
/// Returns the effects of a call and of the blocks that it references.
CallEffects EffectsOf(const Op& op, llvm::ArrayRef<CallEffects> effects_of_blocks);

/// Whether neither the attributes of a call nor the sizes of its results depend on symbols, and it
/// references no block: with known operands it can be evaluated before a run.
bool IsIndependentOfSizes(const Op& op);

}  // namespace pdl

#endif  // PDL_IR_PASSES_BLOCK_EFFECTS_H_
