// Removes what loops compute in vain: results that nothing reads or that equal another result, and
// the operands that the body then does not read. The backward pass of a loop asks its forward loop
// for more values than it turns out to read.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/passes/block_effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

bool IsLoop(const Op& op) { return op.def().body != nullptr; }
/// The checks compare the sizes of sequences and of carried values, which then remain.
bool IsChecked(const Op& loop) { return !loop.checks().empty(); }

/// The operands and results that remain of a loop.
struct Remains {
  llvm::SmallVector<unsigned, 16> operands;  // indices
  size_t num_xs = 0, num_init = 0;           // how many of them
  llvm::SmallVector<unsigned, 8> results;    // indices
  /// For each result of the loop, the index in `results` of the one that equals it, or -1.
  llvm::SmallVector<int, 8> result_of;
};

class LoopPruner {
 public:
  explicit LoopPruner(Graph& graph) : graph_(graph) {}

  void Run() {
    const llvm::SmallVector<BlockId, 8> roots = RootBlocks();
    CountCallers(roots);
    if (num_callers_.empty()) return;
    ClearUnreached(roots);
    effects_ = EffectsOfBlocks(graph_);
    pending_ = roots;
    while (!pending_.empty()) PruneIn(pending_.pop_back_val());
  }

 private:
  /// The network, and the blocks of initial values.
  llvm::SmallVector<BlockId, 8> RootBlocks() const {
    llvm::SmallVector<BlockId, 8> roots = {BlockId()};
    for (llvm::ArrayRef<Value*> variables : {graph_.parameters(), graph_.states()})
      for (const Value* variable : variables)
        if (variable->variable().initializer) roots.push_back(*variable->variable().initializer);
    return roots;
  }
  void CountCallers(llvm::SmallVector<BlockId, 8> reached) {
    while (!reached.empty()) {
      for (const Op* op : graph_.block(reached.pop_back_val()).ops) {
        if (!IsLoop(*op)) continue;
        const BlockId body = LoopBody(graph_, *op).id();
        if (++num_callers_[body.index] == 1) reached.push_back(body);
      }
    }
  }
  /// Empties the bodies that no loop calls any more, but that may call others.
  void ClearUnreached(llvm::ArrayRef<BlockId> roots) {
    llvm::DenseSet<uint32_t> reached;
    for (BlockId root : roots) reached.insert(root.index);
    for (uint32_t i = 0; i < graph_.num_blocks(); ++i) {
      if (reached.contains(i) || num_callers_.contains(i)) continue;
      graph_.SetBlockOutputs({i}, {});
      graph_.EraseOps({i}, [](const Op&) { return true; });
      graph_.SetBlockInputs({i}, {});
    }
  }
  bool HasEffect(const Op& op) const { return EffectsOf(op, effects_).side_effect; }

  /// Prunes the loops of a block, from the last to the first: what a loop no longer reads may be a
  /// result of an earlier one. Their bodies follow later.
  void PruneIn(BlockId block) {
    const std::vector<Op*> ops = graph_.block(block).ops;
    if (llvm::none_of(ops, [](const Op* op) { return IsLoop(*op); })) return;
    ValueSet useful(graph_);
    useful.InsertAll(graph_.block(block).outputs);
    if (block.index == 0) InsertNetworkResults(graph_, useful);
    std::vector<Op*> order, removed;
    std::vector<std::pair<Value*, Value*>> replacements;
    for (Op* op : llvm::reverse(ops)) {
      if (!useful.ContainsAny(op->results()) && !HasEffect(*op)) {
        removed.push_back(op);
        continue;
      }
      Op* remaining = op;
      if (IsLoop(*op)) {
        remaining = Prune(*op, useful, &replacements);
        if (remaining != op) removed.push_back(op);
      }
      useful.InsertAll(remaining->operands());
      graph_.ForEachDefiner(*remaining,
                            [&](const Op* definer) { useful.insert(definer->result()); });
      order.push_back(remaining);
    }
    std::reverse(order.begin(), order.end());
    llvm::append_range(order, removed);
    graph_.SetBlockOps(block, std::move(order));
    if (!replacements.empty()) graph_.ReplaceAllUses(replacements);
    const llvm::DenseSet<const Op*> erased(removed.begin(), removed.end());
    graph_.EraseOps(block, [&](const Op& op) { return erased.contains(&op); });
  }

  /// Returns the loop that replaces `loop`, with the same names of results, or `loop` if nothing
  /// can be removed.
  Op* Prune(Op& loop, const ValueSet& useful,
            std::vector<std::pair<Value*, Value*>>* replacements) {
    const LoopBody body(graph_, loop);
    if (visited_.insert(body.id().index).second) pending_.push_back(body.id());
    if (num_callers_[body.id().index] > 1 || !useful.ContainsAny(loop.results())) return &loop;
    const ValueSet needed = NeededIn(body, loop, useful);
    Remains remains;
    FindOperands(body, loop, useful, needed, &remains);
    FindResults(body, loop, useful, &remains);
    if (remains.operands.size() == body.num_inputs() &&
        remains.results.size() == loop.results().size())
      return &loop;
    Op* pruned = Replace(loop, body, remains, needed);
    for (auto [index, result] : llvm::zip_equal(remains.results, pruned->results()))
      graph_.SwapNames(loop.result(index), result);
    for (auto [from, to] : llvm::zip_equal(loop.results(), remains.result_of))
      if (to >= 0) replacements->push_back({from, pruned->result(static_cast<unsigned>(to))});
    return pruned;
  }

  static bool IsCarried(const LoopBody& body, unsigned operand) {
    return operand >= body.num_xs() && operand < body.num_xs() + body.num_init();
  }
  /// The operand for a result that is carried.
  static unsigned CarriedOf(const LoopBody& body, unsigned result) {
    return body.num_xs() + result - body.num_steps();
  }
  /// Whether an operand remains even if the body does not need it.
  bool Stays(const Op& loop, unsigned operand) const {
    // The condition of a while_loop, or the first sequence, which has the number of steps and rows.
    if (operand == 0) return true;
    // A derivative runs the checks of the loop that it is taken of.
    const Op* producer = loop.operands()[operand]->producer();
    if (producer != nullptr && IsLoop(*producer) && HasEffect(*producer)) return true;
    const LoopBody body(graph_, loop);
    if (operand >= body.num_xs() + body.num_init()) return false;
    return IsChecked(loop) || (IsCarried(body, operand) && HasOwnSizes(loop, operand));
  }
  /// Whether the type of an operand has symbols that the first operand does not have.
  static bool HasOwnSizes(const Op& loop, unsigned operand) {
    llvm::StringSet<> known;
    AddSizes(*loop.operands()[0], &known);
    return !AreKnown(*loop.operands()[operand], known);
  }
  static void AddSizes(const Value& value, llvm::StringSet<>* known) {
    for (const Dim& dim : value.type().dims) known->insert(dim.symbol());
  }
  static bool AreKnown(const Value& value, const llvm::StringSet<>& known) {
    bool all = true;
    for (const Dim& dim : value.type().dims)
      dim.ForEachSymbol([&](llvm::StringRef symbol) { all = all && known.contains(symbol); });
    return all;
  }

  /// The values of the body that the useful results, calls with side effects and the carried values
  /// that stay are computed from.
  ValueSet NeededIn(const LoopBody& body, const Op& loop, const ValueSet& useful) const {
    std::vector<Value*> roots;
    for (const Op* op : graph_.block(body.id()).ops)
      if (HasEffect(*op)) llvm::append_range(roots, op->operands());
    for (unsigned i = 0; i < body.num_outputs(); ++i)
      if (useful.contains(loop.result(i)) ||
          (i >= body.num_steps() && Stays(loop, CarriedOf(body, i))))
        roots.push_back(body.output(i));
    llvm::DenseMap<const Value*, Value*> carried;  // from the input of a step to its output
    for (unsigned j = 0; j < body.num_init(); ++j)
      carried[body.input(body.num_xs() + j)] = body.output(body.num_steps() + j);
    ValueSet needed(graph_);
    needed.InsertAll(BackwardSlice(roots, [&](Value* value, AddValue add) {
      AddOperands(value, add);
      if (Value* next = carried.lookup(value)) add(next);
    }));
    return needed;
  }

  /// Finds the operands that stay, that the body needs, or whose sizes no other operand has.
  void FindOperands(const LoopBody& body, const Op& loop, const ValueSet& useful,
                    const ValueSet& needed, Remains* remains) const {
    auto is_needed = [&](unsigned i) {
      if (Stays(loop, i) || needed.contains(body.input(i))) return true;
      // A carried value that the body ignores may still be returned after the last step.
      return IsCarried(body, i) &&
             useful.contains(loop.result(body.num_steps() + i - body.num_xs()));
    };
    std::vector<bool> given;
    llvm::StringSet<> known;
    for (unsigned i = 0; i < body.num_inputs(); ++i) {
      given.push_back(is_needed(i));
      if (given[i]) AddSizes(*loop.operands()[i], &known);
    }
    for (unsigned i = 0; i < body.num_inputs(); ++i) {
      // A carried value has no sizes of its own, or stays.
      if (!given[i] && !IsCarried(body, i)) given[i] = !AreKnown(*loop.operands()[i], known);
      if (!given[i]) continue;
      remains->operands.push_back(i);
      remains->num_xs += i < body.num_xs();
      remains->num_init += IsCarried(body, i);
    }
  }

  /// Finds the useful results of steps, without those that equal another one, and the carried
  /// values among the operands.
  static void FindResults(const LoopBody& body, const Op& loop, const ValueSet& useful,
                          Remains* remains) {
    llvm::DenseMap<const Value*, int> known;
    for (unsigned k = 0; k < body.num_steps(); ++k) {
      remains->result_of.push_back(-1);
      if (!useful.contains(loop.result(k))) continue;
      const auto [entry, is_new] =
          known.insert({body.output(k), static_cast<int>(remains->results.size())});
      if (is_new) remains->results.push_back(k);
      remains->result_of[k] = entry->second;
    }
    remains->result_of.resize(loop.results().size(), -1);
    for (unsigned i : remains->operands) {
      if (!IsCarried(body, i)) continue;
      const unsigned result = body.num_steps() + i - body.num_xs();
      remains->result_of[result] = static_cast<int>(remains->results.size());
      remains->results.push_back(result);
    }
  }

  /// Removes the rest from the body of `loop`, and adds a call of it.
  Op* Replace(const Op& loop, const LoopBody& body, const Remains& remains,
              const ValueSet& needed) {
    std::vector<Value*> inputs, outputs;
    llvm::SmallVector<Value*, 16> operands;
    for (unsigned i : remains.operands) {
      inputs.push_back(body.input(i));
      operands.push_back(loop.operands()[i]);
    }
    llvm::append_range(operands, loop.operands().drop_front(body.num_inputs()));
    // A body returns the carried values first.
    for (unsigned result : remains.results)
      if (result >= body.num_steps()) outputs.push_back(body.output(result));
    for (unsigned result : remains.results)
      if (result < body.num_steps()) outputs.push_back(body.output(result));
    std::vector<AttributeValue> attributes = loop.attribute_values().vec();
    auto set_count = [&](llvm::StringRef name, size_t count) {
      const int index = loop.def().signature.FindAttribute(name);
      if (index >= 0) attributes[static_cast<size_t>(index)] = static_cast<int64_t>(count);
    };
    set_count("num_xs", remains.num_xs);
    set_count("num_init", remains.num_init);
    set_count("num_captured", remains.operands.size() - remains.num_xs - remains.num_init);
    set_count("num_results", remains.results.size());
    std::vector<std::string> names;
    for (unsigned result : remains.results)
      names.push_back(graph_.NewName(loop.result(result)->name()));

    const BlockId id = body.id();
    graph_.SetBlockOutputs(id, std::move(outputs));
    graph_.EraseOps(
        id, [&](const Op& op) { return !needed.ContainsAny(op.results()) && !HasEffect(op); });
    graph_.SetBlockInputs(id, std::move(inputs));
    llvm::Expected<Op*> pruned = graph_.AddOpWithValues(
        loop.def(), operands, std::move(attributes), names,
        {loop.location(), loop.block(), loop.layer_path(), loop.recompute()});
    if (!pruned) InternalError("a loop with less: " + llvm::toString(pruned.takeError()));
    graph_.AddChecks(*pruned, loop.checks());
    return *pruned;
  }

  Graph& graph_;
  std::vector<CallEffects> effects_;
  llvm::DenseMap<uint32_t, unsigned> num_callers_;  // of each block that is the body of a loop
  llvm::DenseSet<uint32_t> visited_;                // bodies
  llvm::SmallVector<BlockId, 8> pending_;
};

}  // namespace

void PruneLoops(Graph& graph) { LoopPruner(graph).Run(); }

}  // namespace pdl
