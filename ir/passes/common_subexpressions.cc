#include <numeric>

#include "ir/passes/block_effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "pdl/compiler/passes.h"

namespace pdl {
namespace {

/// Whether each check that another operator asked of `a`, such as that of a call which was lowered
/// to `a`, is one of `b`, too.
bool HasChecksOf(const Op& a, const Op& b) {
  return llvm::all_of(a.checks(), [&](const DimCheck& check) {
    return check.asked_by.empty() || llvm::any_of(b.checks(), [&](const DimCheck& other) {
             return other.left == check.left && other.right == check.right &&
                    other.relation == check.relation;
           });
  });
}

/// Finds an equal earlier call for each call of a block.
class Merger {
 public:
  explicit Merger(const Graph& graph) : graph_(graph), canonical_(graph.num_values()) {
    std::iota(canonical_.begin(), canonical_.end(), 0);
  }

  /// Returns the first call equal to `op`, which may be `op` itself.
  Op* FirstLike(Op* op) {
    OperandNumbers operands = OperandsOf(*op);
    uint64_t hash = HashOf(*op, operands);
    auto [first, is_new] = first_.try_emplace(hash, static_cast<uint32_t>(entries_.size()));
    uint32_t previous = kNone;
    for (uint32_t i = is_new ? kNone : first->second; i != kNone; i = entries_[i].next) {
      if (AreEqual(*entries_[i].op, *op, operands)) return entries_[i].op;
      previous = i;
    }
    if (previous != kNone) entries_[previous].next = static_cast<uint32_t>(entries_.size());
    entries_.push_back({op, kNone});
    return op;
  }

  /// Forgets the calls of a block: other blocks have different values.
  void NextBlock() {
    first_.clear();
    entries_.clear();
  }

  /// Subsequently treats `from` as `to`.
  void Merge(const Value* from, const Value* to) {
    canonical_[graph_.number(from)] = graph_.number(to);
  }

 private:
  using OperandNumbers = llvm::SmallVector<uint32_t, 4>;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Entry {
    Op* op;
    uint32_t next;  // with the same hash
  };

  OperandNumbers OperandsOf(const Op& op) const {
    OperandNumbers numbers;
    for (const Value* operand : op.operands())
      numbers.push_back(canonical_[graph_.number(operand)]);
    if (op.def().properties().commutative) llvm::sort(numbers);
    return numbers;
  }

  static uint64_t HashOf(const Op& op, const OperandNumbers& operands) {
    llvm::hash_code hash =
        llvm::hash_combine(&op.def(), llvm::hash_combine_range(operands.begin(), operands.end()));
    for (const AttributeValue& value : op.attribute_values())
      hash = llvm::hash_combine(hash, HashAttribute(value));
    // DenseMap reserves the highest keys.
    return static_cast<uint64_t>(hash) >> 1;
  }

  bool AreEqual(const Op& a, const Op& b, const OperandNumbers& operands_of_b) const {
    // Types differ if a size is data-dependent: each of the two calls has its own symbol.
    return &a.def() == &b.def() &&
           llvm::equal(a.attribute_values(), b.attribute_values(), Identical) &&
           OperandsOf(a) == operands_of_b &&
           llvm::equal(a.results(), b.results(),
                       [](const Value* x, const Value* y) { return x->type() == y->type(); }) &&
           // One of them may not be needed, and then its checks must not fail.
           HasChecksOf(a, b) && HasChecksOf(b, a);
  }

  const Graph& graph_;
  std::vector<uint32_t> canonical_;
  llvm::DenseMap<uint64_t, uint32_t> first_;
  std::vector<Entry> entries_;
};

}  // namespace

void EliminateCommonSubexpressions(Graph& graph) {
  const std::vector<CallEffects> effects = EffectsOfBlocks(graph);
  Merger merger(graph);
  llvm::DenseSet<const Op*> merged;
  llvm::SmallVector<BlockId> changed;
  std::vector<std::pair<Value*, Value*>> replacements;
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    merger.NextBlock();
    const size_t merged_before = merged.size();
    for (Op* op : graph.block({i}).ops) {
      if (!EffectsOf(*op, effects).IsRepeatable()) continue;
      // Recomputed values are equal to the original ones and must not be merged with them.
      if (op->recompute() != 0) continue;
      Op* first = merger.FirstLike(op);
      if (first == op) continue;
      merged.insert(op);
      graph.AddChecks(first, op->checks());
      for (unsigned j = 0; j < op->results().size(); ++j) {
        merger.Merge(op->result(j), first->result(j));
        replacements.push_back({op->result(j), first->result(j)});
      }
    }
    if (merged.size() > merged_before) changed.push_back({i});
  }
  if (changed.empty()) return;
  // Once, since this visits the outputs of all blocks.
  graph.ReplaceAllUses(replacements);
  for (const BlockId block : changed)
    graph.EraseOps(block, [&](const Op& op) { return merged.contains(&op); });
}

}  // namespace pdl
