#ifndef PDL_COMPILER_GRAPH_WALK_H_
#define PDL_COMPILER_GRAPH_WALK_H_

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

// Dependence analysis of a graph, in the terms of activity analysis (Hascoët and Pascual, The
// Tapenade Automatic Differentiation Tool, 2013): a value is *varied* if it is computed from given
// inputs, and *useful* if given outputs are computed from it.

namespace pdl {

/// A set of values of one graph. The graph must outlive the set and must not be moved. Values that
/// are added to the graph later may be inserted.
class PDL_API ValueSet {
 public:
  explicit ValueSet(const Graph& graph) : graph_(&graph), bits_(graph.num_values()) {}

  bool contains(const Value* value) const {
    const uint32_t number = graph_->number(value);
    return number < bits_.size() && bits_.test(number);
  }
  bool ContainsAny(llvm::ArrayRef<Value*> values) const;
  /// Returns true if the value was not in the set.
  bool insert(const Value* value);
  void InsertAll(llvm::ArrayRef<Value*> values);

 private:
  const Graph* graph_;
  llvm::BitVector bits_;  // by number
};

/// Adds the values of block 0 that the network is for: its outputs, the new values of its states,
/// and the losses and updates of its `minimize` statements.
PDL_API void InsertNetworkResults(const Graph& graph, ValueSet& values);

/// Predicates over values and calls.
using ValuePredicate = llvm::function_ref<bool(const Value*)>;
using OpPredicate = llvm::function_ref<bool(const Op&)>;

/// Adds to `varied` those results of calls with a varied operand that `carries` accepts (null:
/// all). `ops` are calls of one block, in order. A loop is treated as one call: values that its
/// body captures are among its operands.
PDL_API void PropagateForward(llvm::ArrayRef<Op*> ops, ValueSet& varied,
                              ValuePredicate carries = nullptr);

/// Visits in reverse order the calls that have a useful result or for which `is_root` holds (null:
/// none). `visit` adds to `useful` the operands that the call needs.
PDL_API void PropagateBackward(llvm::ArrayRef<Op*> ops, ValueSet& useful, OpPredicate is_root,
                               llvm::function_ref<void(Op&)> visit);
/// As above, where every call needs all of its operands.
PDL_API void PropagateBackward(llvm::ArrayRef<Op*> ops, ValueSet& useful);

/// Moves each call of block 0 after the calls that it depends on, and otherwise keeps the order.
PDL_API void SortCalls(Graph& graph);

/// The body of a loop. All iterations are analyzed together: the values that one iteration carries
/// out are inputs of the next.
class PDL_API LoopBody {
 public:
  /// `loop` must be a call of an operator with a body (OpDef::body).
  LoopBody(const Graph& graph, const Op& loop);

  BlockId id() const { return id_; }

  /// The body's input for the operand of that index: an element of a sequence, a carried value, or
  /// a captured value.
  Value* input(unsigned operand) const { return block_.inputs[operand]; }
  unsigned num_inputs() const { return static_cast<unsigned>(block_.inputs.size()); }
  /// The numbers of sequences and of carried values; inputs are in this order.
  unsigned num_xs() const { return static_cast<unsigned>(num_xs_); }
  unsigned num_init() const { return static_cast<unsigned>(num_init_); }
  unsigned num_captured() const { return num_inputs() - num_xs() - num_init(); }
  /// The number of results that are stacked over the steps; they come before the carried ones.
  unsigned num_steps() const { return num_outputs() - num_init(); }
  /// The body's output that the result of that index is made of.
  Value* output(unsigned result) const;
  unsigned num_outputs() const { return static_cast<unsigned>(block_.outputs.size()); }

  /// PropagateForward over the calls of the body, for any number of iterations. `carries` is also
  /// asked about the carried values.
  void PropagateForward(ValueSet& varied, ValuePredicate carries) const;
  /// `visit` may see a call more than once.
  void PropagateBackward(ValueSet& useful, ValuePredicate carries,
                         llvm::function_ref<void(Op&)> visit) const;

 private:
  /// Returns true if it inserted a value of `to`.
  bool Carry(ValueSet& values, llvm::ArrayRef<Value*> from, llvm::ArrayRef<Value*> to,
             ValuePredicate carries) const;

  BlockId id_;
  const Block& block_;
  size_t num_xs_ = 0, num_init_ = 0;
};

/// The order in which BackwardSlice visits values.
enum class WalkOrder {
  kBreadthFirst,  // operands from the first to the last
  kDepthFirst,    // operands from the last to the first
};
/// Callback that adds a value to a slice.
using AddValue = llvm::function_ref<void(Value*)>;

/// Calls `add` with the operands of the call that computes `value`, if there is one.
PDL_API void AddOperands(Value* value, AddValue add);

/// Returns a backward slice (Weiser, Program Slicing, 1984): `roots` and the values that they are
/// computed from, each once, in the order found. `next` enumerates the values that a value is
/// computed from. Takes time in the size of the slice and does not depend on the order of calls.
PDL_API std::vector<Value*> BackwardSlice(
    llvm::ArrayRef<Value*> roots, llvm::function_ref<void(Value*, AddValue)> next = AddOperands,
    WalkOrder order = WalkOrder::kBreadthFirst);

}  // namespace pdl

#endif  // PDL_COMPILER_GRAPH_WALK_H_
