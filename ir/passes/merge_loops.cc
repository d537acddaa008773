// Merges loops over the same sequences whose bodies compute the same. The backward pass of a loop
// repeats the loop so that it also returns the values that its steps carried; one loop then serves
// both.
#include <algorithm>
#include <unordered_map>

#include "ir/passes/block_effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"

namespace pdl {
namespace {

/// Whether two calls are equal, given for each operand of the first one the value that it equals.
bool ComputesTheSame(const Op& op, const Op& other,
                     const llvm::DenseMap<const Value*, const Value*>& same) {
  // The backward pass repeats random calls with the same streams.
  return &op.def() == &other.def() && op.operands().size() == other.operands().size() &&
         llvm::all_of(
             llvm::zip_equal(op.operands(), other.operands()),
             [&](auto pair) { return same.lookup(std::get<0>(pair)) == std::get<1>(pair); }) &&
         (!op.def().properties().random || StreamOf(op) == StreamOf(other)) &&
         llvm::equal(AttributesWithStream(op), AttributesWithStream(other), Identical);
}

/// Whether the first outputs of a block are computed by the same calls as the outputs of another
/// block. It may have more calls, for its other outputs.
bool Extends(const Block& more, const Block& less) {
  if (more.inputs.size() != less.inputs.size() || more.ops.size() < less.ops.size() ||
      more.outputs.size() < less.outputs.size())
    return false;
  llvm::DenseMap<const Value*, const Value*> same;
  for (auto [a, b] : llvm::zip_equal(more.inputs, less.inputs)) {
    // Local sizes may have different names.
    if (a->type().dtype != b->type().dtype || a->type().rank() != b->type().rank()) return false;
    same[b] = a;
  }
  auto next = more.ops.begin();
  for (const Op* op : less.ops) {
    const OpProperties& properties = op->def().properties();
    if (properties.has_side_effect && !properties.only_checks) return false;
    next = std::find_if(next, more.ops.end(),
                        [&](const Op* other) { return ComputesTheSame(*op, *other, same); });
    if (next == more.ops.end()) return false;
    for (auto [x, y] : llvm::zip_equal(op->results(), (*next)->results())) same[x] = y;
    ++next;
  }
  for (size_t i = 0; i < less.outputs.size(); ++i)
    if (same.lookup(less.outputs[i]) != more.outputs[i]) return false;
  return true;
}

/// The attribute that holds the number of results of a call, or -1.
int ResultsAttribute(const Op& op) {
  const OpSignature& signature = op.def().signature;
  return signature.results_from.empty() ? -1
                                        : signature.FindAttribute(signature.results_from.front());
}

/// Equality except for the body and the number of results.
bool IsSameLoop(const Op& a, const Op& b) {
  if (&a.def() != &b.def() || a.operands() != b.operands()) return false;
  const int body = a.def().signature.BlockAttribute(), results = ResultsAttribute(a);
  for (int i = 0; i < static_cast<int>(a.attribute_values().size()); ++i)
    if (i != body && i != results &&
        !Identical(a.attribute_values()[static_cast<size_t>(i)],
                   b.attribute_values()[static_cast<size_t>(i)]))
      return false;
  return true;
}

const Block& BodyOf(const Graph& graph, const Op& op) {
  return graph.block(LoopBody(graph, op).id());
}

/// Pairs of loops of which one computes the results of the other and more. Each loop is in one pair
/// at most.
struct Pairs {
  llvm::DenseMap<const Op*, Op*> replaced;  // a loop, and the one that computes its results
  llvm::DenseSet<const Op*> moved;          // those to move to the loop that they replace
};

/// Equal for loops that could be merged: of their operands, and of the first calls of their bodies.
llvm::hash_code KeyOf(const Graph& graph, const Op& loop) {
  const std::vector<Op*>& body = BodyOf(graph, loop).ops;
  const OpDef* first = body.empty() ? nullptr : &body.front()->def();
  const llvm::ArrayRef<Value*> operands = loop.operands();
  return llvm::hash_combine(&loop.def(), first,
                            llvm::hash_combine_range(operands.begin(), operands.end()));
}

/// Adds the pair of two loops if there is one.
bool AddPair(const Graph& graph, Op* earlier, Op* later, Pairs* pairs) {
  if (!IsSameLoop(*earlier, *later)) return false;
  if (Extends(BodyOf(graph, *later), BodyOf(graph, *earlier))) {
    pairs->replaced[earlier] = later;
    pairs->moved.insert(later);
    return true;
  }
  if (!Extends(BodyOf(graph, *earlier), BodyOf(graph, *later))) return false;
  pairs->replaced[later] = earlier;
  return true;
}

Pairs FindPairs(const Graph& graph, BlockId block) {
  // A loop is compared with so many others at most, which keeps the time linear.
  constexpr size_t kMostCompared = 64;
  Pairs pairs;
  std::unordered_map<size_t, std::vector<Op*>> unpaired;  // by key
  for (Op* later : graph.block(block).ops) {
    if (!later->def().body || ResultsAttribute(*later) < 0) continue;
    std::vector<Op*>& candidates = unpaired[KeyOf(graph, *later)];
    const auto end =
        candidates.begin() + static_cast<int64_t>(std::min(candidates.size(), kMostCompared));
    const auto found = std::find_if(candidates.begin(), end, [&](Op* earlier) {
      return AddPair(graph, earlier, later, &pairs);
    });
    if (found == end) {
      candidates.push_back(later);
    } else {
      candidates.erase(found);
    }
  }
  return pairs;
}

/// Merges each pair. Returns whether there was any; the merged loops may then be merged with
/// others.
bool MergePairs(Graph& graph, BlockId block) {
  const Pairs pairs = FindPairs(graph, block);
  if (pairs.replaced.empty()) return false;
  std::vector<Op*> order;
  for (Op* op : graph.block(block).ops) {
    if (Op* by = pairs.replaced.lookup(op)) {
      // The operands are the same, so it can be moved there.
      if (pairs.moved.contains(by)) order.push_back(by);
    } else if (!pairs.moved.contains(op)) {
      order.push_back(op);
    }
  }
  std::vector<std::pair<Value*, Value*>> replacements;
  for (auto [loop, by] : pairs.replaced) {
    graph.AddChecks(by, loop->checks());
    const unsigned steps = LoopBody(graph, *loop).num_steps();
    const unsigned steps_by = LoopBody(graph, *by).num_steps();
    for (unsigned r = 0; r < loop->results().size(); ++r)
      replacements.push_back({loop->result(r), by->result(r < steps ? r : r - steps + steps_by)});
    order.push_back(const_cast<Op*>(loop));
  }
  graph.SetBlockOps(block, std::move(order));
  graph.ReplaceAllUses(replacements);
  graph.EraseOps(block, [&](const Op& op) { return pairs.replaced.contains(&op); });
  return true;
}

}  // namespace

void MergeLoops(Graph& graph) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    while (MergePairs(graph, {i})) continue;
}

}  // namespace pdl
