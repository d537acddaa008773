#ifndef PDL_COMPILER_GRAPH_WALK_H_
#define PDL_COMPILER_GRAPH_WALK_H_

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

// What depends on what in a graph, in the terms of activity analysis (Hascoët and Pascual, The
// Tapenade Automatic Differentiation Tool, 2013): a value is *varied* where it is computed from
// given inputs, and *useful* where given outputs are computed from it.

namespace pdl {

/// A set of values of one graph, which must outlive it and stay where it is. Values that the graph
/// gets later may be added.
class PDL_API ValueSet {
 public:
  explicit ValueSet(const Graph& graph) : graph_(&graph), bits_(graph.num_values()) {}

  bool contains(const Value* value) const {
    const uint32_t number = graph_->number(value);
    return number < bits_.size() && bits_.test(number);
  }
  bool ContainsAny(llvm::ArrayRef<Value*> values) const;
  /// Whether it is new to the set.
  bool insert(const Value* value);
  void InsertAll(llvm::ArrayRef<Value*> values);

 private:
  const Graph* graph_;
  llvm::BitVector bits_;  // by number
};

using ValuePredicate = llvm::function_ref<bool(const Value*)>;
using OpPredicate = llvm::function_ref<bool(const Op&)>;

/// Adds to `varied` the results of each call with a varied operand, as far as `carries` (all, where
/// it is null) accepts them. `ops` are calls of one block in their order. A loop counts as one
/// call: what its body captures is among its operands.
PDL_API void PropagateForward(llvm::ArrayRef<Op*> ops, ValueSet& varied,
                              ValuePredicate carries = nullptr);

/// Visits, from the last to the first, the calls with a useful result and those for which `is_root`
/// (none, where it is null) holds: `visit` adds to `useful` what they need of their operands.
PDL_API void PropagateBackward(llvm::ArrayRef<Op*> ops, ValueSet& useful, OpPredicate is_root,
                               llvm::function_ref<void(Op&)> visit);
/// The same where calls need all operands.
PDL_API void PropagateBackward(llvm::ArrayRef<Op*> ops, ValueSet& useful);

/// The body of a loop, all of whose steps count together: what a step carries out is what the next
/// one is given.
class PDL_API LoopBody {
 public:
  /// `loop`: a call of an operator with a body (OpDef::body).
  LoopBody(const Graph& graph, const Op& loop);

  /// The value of the body that is given the operand of that index: an element of a sequence, what
  /// is carried, or what is captured.
  Value* input(unsigned operand) const { return block_.inputs[operand]; }
  unsigned num_inputs() const { return static_cast<unsigned>(block_.inputs.size()); }
  /// The value of the body that the result of that index is made of.
  Value* output(unsigned result) const;
  unsigned num_outputs() const { return static_cast<unsigned>(block_.outputs.size()); }

  /// As of the calls of the body, over any number of steps; `carries` is asked about values that a
  /// step carries, too.
  void PropagateForward(ValueSet& varied, ValuePredicate carries) const;
  /// `visit` may see a call more than once.
  void PropagateBackward(ValueSet& useful, ValuePredicate carries,
                         llvm::function_ref<void(Op&)> visit) const;

 private:
  /// Whether a value of `to` was new.
  bool Carry(ValueSet& values, llvm::ArrayRef<Value*> from, llvm::ArrayRef<Value*> to,
             ValuePredicate carries) const;

  const Block& block_;
  size_t num_xs_ = 0, num_init_ = 0;
};

enum class WalkOrder {
  kBreadthFirst,  // operands from the first to the last
  kDepthFirst,    // operands from the last to the first
};
using AddValue = llvm::function_ref<void(Value*)>;

/// Adds the operands of the call that computes `value`, if one does.
PDL_API void AddOperands(Value* value, AddValue add);

/// A backward slice (Weiser, Program Slicing, 1984): `roots` and the values that they are computed
/// from, each once, in the order found. `next` says what a value is computed from. Looks at nothing
/// but the slice, and does not depend on the order of calls.
PDL_API std::vector<Value*> BackwardSlice(
    llvm::ArrayRef<Value*> roots, llvm::function_ref<void(Value*, AddValue)> next = AddOperands,
    WalkOrder order = WalkOrder::kBreadthFirst);

}  // namespace pdl

#endif  // PDL_COMPILER_GRAPH_WALK_H_
