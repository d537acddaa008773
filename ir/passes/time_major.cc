// Makes loops run over the first axis of their sequences, so that the slices of the steps are
// contiguous and the kernel reads and writes them in place. The sequences must be computed by
// matmuls whose left operands are no larger than the results, as those of lstm, gru and rnn are as
// a rule: these are transposed instead. Derivatives of such a loop have the same axis.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// The loops of one block.
class TimeMajor {
 public:
  TimeMajor(Graph& graph, const OpRegistry& registry, BlockId block)
      : graph_(graph),
        matmul_(registry.Find("matmul")),
        transpose_(registry.Find("transpose")),
        block_(block),
        read_outside_(graph) {}

  void Run() {
    const std::vector<Op*> ops = graph_.block(block_).ops;
    if (matmul_ == nullptr || transpose_ == nullptr ||
        llvm::none_of(ops, [](const Op* op) { return op->def().body != nullptr; }))
      return;
    read_outside_.InsertAll(graph_.block(block_).outputs);
    if (block_.index == 0) InsertNetworkResults(graph_, read_outside_);
    std::vector<Op*> order;
    for (Op* op : ops) {
      if (!CanMove(*op)) {
        order.push_back(op);
        continue;
      }
      const size_t known = graph_.block(block_).ops.size();
      Move(*op);
      llvm::append_range(order, llvm::ArrayRef(graph_.block(block_).ops).drop_front(known));
      moved_.push_back(op);
    }
    if (moved_.empty()) return;
    llvm::append_range(order, moved_);
    graph_.SetBlockOps(block_, std::move(order));
    graph_.ReplaceAllUses(replacements_);
    const llvm::DenseSet<const Op*> moved(moved_.begin(), moved_.end());
    graph_.EraseOps(block_, [&](const Op& op) { return moved.contains(&op); });
  }

 private:
  /// Longer chains of elementwise calls after a matmul are not followed.
  static constexpr int kMostCalls = 8;

  /// Whether the loop's steps are not along the first axis, its sequences can be computed in the
  /// other order, and the results of its steps can be transposed: those of i16 cannot.
  bool CanMove(const Op& op) {
    if (op.def().body == nullptr || op.attributes().Find("axis") == nullptr) return false;
    const LoopBody body(graph_, op);
    // With lengths of their own, the rows must be the first axis.
    if (op.operands().size() != body.num_inputs() || AxisOf(op) == 0) return false;
    movable_.clear();
    const DTypeSet transposable = transpose_->signature.inputs[0].dtypes;
    return llvm::all_of(op.results().take_front(body.num_steps()),
                        [&](const Value* y) { return transposable.Contains(y->type().dtype); }) &&
           llvm::all_of(op.operands().take_front(body.num_xs()),
                        [&](const Value* x) { return CanMove(x, op, AxisOf(op), kMostCalls); });
  }
  static int64_t AxisOf(const Op& loop) {
    const int64_t axis = loop.attributes().Int("axis");
    return axis < 0 ? axis + loop.operands()[0]->type().rank() : axis;
  }

  /// Whether `value`, whose only user is `user`, can be computed with `axis` as its first one.
  bool CanMove(const Value* value, const Op& user, int64_t axis, int most_calls) {
    if (movable_.contains(value)) return true;
    const Op* op = value->producer();
    if (op == nullptr || op->block() != block_ || most_calls == 0) return false;
    if (llvm::any_of(value->uses(), [&](const Value::Use& use) { return use.op != &user; }) ||
        read_outside_.contains(value))
      return false;
    if (!(&op->def() == matmul_ ? IsMovable(*op, axis) : CanMoveOperands(*op, axis, most_calls)))
      return false;
    movable_.insert(value);
    return true;
  }
  /// Whether a matmul can compute its result in the other order, from an operand that is in this
  /// order already, or no larger than the result.
  bool IsMovable(const Op& matmul, int64_t axis) const {
    const Value* left = matmul.operands()[0];
    const Shape &dims = left->type().dims, &result = matmul.result()->type().dims;
    if (dims.size() != result.size() || axis + 1 >= left->type().rank() ||
        matmul.operands()[1]->type().rank() != 2 || matmul.attributes().Bool("transpose_a"))
      return false;
    return StackedBy(left, axis) != nullptr || (result.back() - dims.back()).ProvablyAtLeast(0);
  }
  bool CanMoveOperands(const Op& op, int64_t axis, int most_calls) {
    const OpProperties& properties = op.def().properties();
    if (!properties.elementwise || properties.random || properties.has_side_effect ||
        op.results().size() != 1)
      return false;
    bool moves = false;
    for (const Value* operand : op.operands()) {
      if (HasOnlyLaterAxes(operand, op, axis)) continue;
      if (operand->type().dims != op.result()->type().dims ||
          !CanMove(operand, op, axis, most_calls - 1))
        return false;
      moves = true;
    }
    return moves;
  }
  /// Whether an operand of an elementwise call is the same in both orders.
  static bool HasOnlyLaterAxes(const Value* operand, const Op& op, int64_t axis) {
    return operand->type().rank() < op.result()->type().rank() - axis;
  }
  /// If `value` was the result of a loop over `axis`, the result of the loop that replaces it.
  Value* StackedBy(const Value* value, int64_t axis) const {
    const auto [stacked, stacked_axis] = stacked_.lookup(value);
    return stacked_axis == axis ? stacked : nullptr;
  }

  Value* Add(const OpDef& def, llvm::ArrayRef<Value*> operands,
             std::vector<AttributeValue> attributes, const Value& like, const Op& at) {
    llvm::Expected<Op*> op =
        graph_.AddOpWithValues(def, operands, std::move(attributes), {graph_.NewName(like.name())},
                               {at.location(), block_, at.layer_path(), at.recompute()});
    if (!op) InternalError("a loop along another axis: " + llvm::toString(op.takeError()));
    return (*op)->result();
  }
  /// Moves `axis` to the front, or the front to `axis`.
  Value* Transposed(Value* value, int64_t axis, bool to_front, const Op& at) {
    std::vector<int64_t> perm(static_cast<size_t>(value->type().rank()));
    std::iota(perm.begin(), perm.end(), 0);
    if (to_front) {
      std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + 1);
    } else {
      std::rotate(perm.begin(), perm.begin() + 1, perm.begin() + axis + 1);
    }
    return Add(*transpose_, {value}, {std::move(perm)}, *value, at);
  }

  Value* Moved(Value* value, int64_t axis) {
    if (Value* known = results_.lookup(value)) return known;
    const Op& op = *value->producer();
    llvm::SmallVector<Value*, 4> operands(op.operands().begin(), op.operands().end());
    if (&op.def() == matmul_) {
      Value* stacked = StackedBy(operands[0], axis);
      operands[0] = stacked ? stacked : Transposed(operands[0], axis, /*to_front=*/true, op);
    } else {
      for (Value*& operand : operands)
        if (!HasOnlyLaterAxes(operand, op, axis)) operand = Moved(operand, axis);
    }
    Value* moved = Add(op.def(), operands, op.attribute_values().vec(), *value, op);
    graph_.AddChecks(moved->producer(), op.checks());
    return results_[value] = moved;
  }

  void Move(const Op& loop) {
    const int64_t axis = AxisOf(loop);
    const LoopBody body(graph_, loop);
    llvm::SmallVector<Value*, 8> operands(loop.operands().begin(), loop.operands().end());
    for (Value*& x : llvm::MutableArrayRef(operands).take_front(body.num_xs())) x = Moved(x, axis);
    std::vector<AttributeValue> attributes = loop.attribute_values().vec();
    attributes[static_cast<size_t>(loop.def().signature.FindAttribute("axis"))] = int64_t{0};
    std::vector<std::string> names;
    for (const Value* result : loop.results()) names.push_back(graph_.NewName(result->name()));
    llvm::Expected<Op*> moved =
        graph_.AddOpWithValues(loop.def(), operands, std::move(attributes), names,
                               {loop.location(), block_, loop.layer_path(), loop.recompute()});
    if (!moved) InternalError("a loop along another axis: " + llvm::toString(moved.takeError()));
    graph_.AddChecks(*moved, loop.checks());
    for (auto [i, result] : llvm::enumerate((*moved)->results())) {
      Value* old = loop.result(static_cast<unsigned>(i));
      const bool is_stacked = i < body.num_steps();
      if (is_stacked) stacked_[old] = {result, axis};
      graph_.SwapNames(old, result);
      replacements_.push_back(
          {old, is_stacked ? Transposed(result, axis, /*to_front=*/false, loop) : result});
    }
  }

  Graph& graph_;
  const OpDef *matmul_, *transpose_;
  BlockId block_;
  ValueSet read_outside_;
  llvm::DenseSet<const Value*> movable_;          // of the loop that CanMove is asked about
  llvm::DenseMap<const Value*, Value*> results_;  // of calls that were moved
  std::vector<Op*> moved_;
  /// The results of steps of moved_: those of the new loops, and the axis that was moved.
  llvm::DenseMap<const Value*, std::pair<Value*, int64_t>> stacked_;
  std::vector<std::pair<Value*, Value*>> replacements_;
};

}  // namespace

void RunLoopsTimeMajor(Graph& graph, const OpRegistry& registry) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) TimeMajor(graph, registry, {i}).Run();
}

}  // namespace pdl
