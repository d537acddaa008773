// Merges loops over the same sequences whose bodies compute the same. The backward pass of a loop
// repeats the loop so that it also returns the values that its steps carried; one loop then serves
// both.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"

namespace pdl {
namespace {

/// Whether the first outputs of a block are computed by the same calls as the outputs of another
/// block.
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
  for (auto [a, b] : llvm::zip_first(less.ops, more.ops)) {
    const Op& mine = *a;
    const Op& other = *b;
    if (&mine.def() != &other.def() || mine.operands().size() != other.operands().size() ||
        mine.def().properties().random || mine.def().properties().has_side_effect)
      return false;
    for (auto [x, y] : llvm::zip_equal(mine.operands(), other.operands()))
      if (same.lookup(x) != y) return false;
    if (!llvm::equal(mine.attribute_values(), other.attribute_values(), Identical)) return false;
    for (auto [x, y] : llvm::zip_equal(mine.results(), other.results())) same[x] = y;
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
  const auto body = static_cast<size_t>(op.def().signature.BlockAttribute());
  return graph.block(std::get<BlockId>(op.attribute_values()[body]));
}

}  // namespace

void MergeLoops(Graph& graph) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    std::vector<Op*> loops;
    for (Op* op : graph.block({i}).ops)
      if (op->def().body && ResultsAttribute(*op) >= 0) loops.push_back(op);
    // Pairs of an earlier loop and a later one that computes its results and more.
    llvm::DenseMap<const Op*, Op*> replaced;
    llvm::DenseSet<const Op*> moved;
    for (Op* later : loops) {
      for (Op* earlier : loops) {
        if (earlier == later) break;
        if (replaced.contains(earlier) || moved.contains(earlier) ||
            !IsSameLoop(*earlier, *later) ||
            !Extends(BodyOf(graph, *later), BodyOf(graph, *earlier)))
          continue;
        replaced[earlier] = later;
        moved.insert(later);
        break;
      }
    }
    if (replaced.empty()) continue;
    std::vector<Op*> order;
    for (Op* op : graph.block({i}).ops) {
      if (Op* later = replaced.lookup(op)) {
        // The operands are the same, so it can be moved there.
        order.push_back(later);
        continue;
      }
      if (!moved.contains(op)) order.push_back(op);
    }
    std::vector<std::pair<Value*, Value*>> replacements;
    for (auto [earlier, later] : replaced) {
      graph.AddChecks(later, earlier->checks());
      const unsigned carried =
          static_cast<unsigned>(std::get<int64_t>(earlier->attribute_values()[static_cast<size_t>(
              earlier->def().signature.FindAttribute("num_init"))]));
      const size_t steps = earlier->results().size() - carried;
      for (unsigned r = 0; r < earlier->results().size(); ++r) {
        const size_t to = r < steps ? r : later->results().size() - carried + (r - steps);
        replacements.push_back({earlier->result(r), later->result(static_cast<unsigned>(to))});
      }
    }
    for (auto [earlier, later] : replaced) order.push_back(const_cast<Op*>(earlier));
    graph.SetBlockOps({i}, std::move(order));
    graph.ReplaceAllUses(replacements);
    graph.EraseOps({i}, [&](const Op& op) { return replaced.contains(&op); });
  }
}

}  // namespace pdl
