#include "pdl/compiler/graph_walk.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace pdl {

bool ValueSet::ContainsAny(llvm::ArrayRef<Value*> values) const {
  return llvm::any_of(values, [&](const Value* value) { return contains(value); });
}

bool ValueSet::insert(const Value* value) {
  const uint32_t number = graph_->number(value);
  if (number >= bits_.size()) bits_.resize(graph_->num_values());
  if (bits_.test(number)) return false;
  bits_.set(number);
  return true;
}

void ValueSet::InsertAll(llvm::ArrayRef<Value*> values) {
  for (const Value* value : values) insert(value);
}

void InsertNetworkResults(const Graph& graph, ValueSet& values) {
  for (const GraphOutput& output : graph.outputs()) values.insert(output.value);
  for (const GraphUpdate& update : graph.updates()) values.insert(update.value);
  for (const GraphTraining& training : graph.trainings()) {
    values.insert(training.loss);
    for (const GraphUpdate& update : training.updates) values.insert(update.value);
  }
}

void PropagateForward(llvm::ArrayRef<Op*> ops, ValueSet& varied, ValuePredicate carries) {
  for (const Op* op : ops) {
    if (!varied.ContainsAny(op->operands())) continue;
    for (const Value* result : op->results())
      if (!carries || carries(result)) varied.insert(result);
  }
}

void PropagateBackward(llvm::ArrayRef<Op*> ops, ValueSet& useful, OpPredicate is_root,
                       llvm::function_ref<void(Op&)> visit) {
  for (Op* op : llvm::reverse(ops))
    if (useful.ContainsAny(op->results()) || (is_root && is_root(*op))) visit(*op);
}

void PropagateBackward(llvm::ArrayRef<Op*> ops, ValueSet& useful) {
  PropagateBackward(ops, useful, nullptr, [&](Op& op) { useful.InsertAll(op.operands()); });
}

void SortCalls(Graph& graph) {
  std::vector<Op*> sorted;
  llvm::DenseSet<const Op*> placed;
  llvm::SmallVector<std::pair<Op*, bool>, 16> pending;  // second: its operands have been placed
  for (Op* root : graph.ops()) {
    pending.push_back({root, false});
    while (!pending.empty()) {
      auto [op, is_ready] = pending.pop_back_val();
      if (is_ready) sorted.push_back(op);
      if (is_ready || !placed.insert(op).second) continue;
      pending.push_back({op, true});
      graph.ForEachDefiner(*op, [&](Op* definer) { pending.push_back({definer, false}); });
      for (Value* operand : llvm::reverse(op->operands()))
        if (operand->producer()) pending.push_back({operand->producer(), false});
    }
  }
  graph.SetBlockOps({}, std::move(sorted));
}

LoopBody::LoopBody(const Graph& graph, const Op& loop)
    : id_(std::get<BlockId>(
          loop.attribute_values()[static_cast<size_t>(loop.def().signature.BlockAttribute())])),
      block_(graph.block(id_)),
      num_xs_(loop.attributes().Find("num_xs")
                  ? static_cast<size_t>(loop.attributes().Int("num_xs"))
                  : 0),
      num_init_(static_cast<size_t>(loop.attributes().Int("num_init"))) {}

Value* LoopBody::output(unsigned result) const {
  // The results are the values of the steps, then the values carried out of the last step.
  return block_.outputs[result < num_steps() ? num_init_ + result : result - num_steps()];
}

bool LoopBody::Carry(ValueSet& values, llvm::ArrayRef<Value*> from, llvm::ArrayRef<Value*> to,
                     ValuePredicate carries) const {
  bool is_new = false;
  for (size_t i = 0; i < num_init_; ++i)
    if (values.contains(from[i]) && carries(to[i])) is_new |= values.insert(to[i]);
  return is_new;
}

void LoopBody::PropagateForward(ValueSet& varied, ValuePredicate carries) const {
  const auto inputs = llvm::ArrayRef<Value*>(block_.inputs).drop_front(num_xs_);
  do {
    pdl::PropagateForward(block_.ops, varied, carries);
  } while (Carry(varied, block_.outputs, inputs, carries));
}

void LoopBody::PropagateBackward(ValueSet& useful, ValuePredicate carries,
                                 llvm::function_ref<void(Op&)> visit) const {
  const auto inputs = llvm::ArrayRef<Value*>(block_.inputs).drop_front(num_xs_);
  do {
    pdl::PropagateBackward(block_.ops, useful, nullptr, visit);
  } while (Carry(useful, inputs, block_.outputs, carries));
}

void AddOperands(Value* value, AddValue add) {
  if (value->producer() == nullptr) return;
  for (Value* operand : value->producer()->operands()) add(operand);
}

std::vector<Value*> BackwardSlice(llvm::ArrayRef<Value*> roots,
                                  llvm::function_ref<void(Value*, AddValue)> next,
                                  WalkOrder order) {
  std::vector<Value*> slice, pending;
  llvm::DenseSet<const Value*> seen;
  std::vector<Value*>& found = order == WalkOrder::kBreadthFirst ? slice : pending;
  auto add = [&](Value* value) {
    if (seen.insert(value).second) found.push_back(value);
  };
  llvm::for_each(roots, add);
  for (size_t i = 0; i < slice.size() || !pending.empty(); ++i) {
    if (!pending.empty()) {
      slice.push_back(pending.back());
      pending.pop_back();
    }
    next(slice[i], add);
  }
  return slice;
}

}  // namespace pdl
