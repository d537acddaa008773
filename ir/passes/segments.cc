#include "ir/passes/segments.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"

namespace pdl {

Segments::Segments(const Graph& graph) : graph_(graph) {
  auto defines = [](const Op* op) { return op->def().properties().defines_size; };
  if (llvm::none_of(graph.ops(), defines)) return;
  Place();
  for (unsigned i = 0; i < count_; ++i) segments_.push_back(Make(i));
}

unsigned Segments::HomeOf(const Value* value) const {
  if (!value->producer()) return 0;
  const unsigned home = home_.lookup(value->producer());
  return home == kEverywhere ? 0 : home;
}

void Segments::Place() {
  unsigned last_effect = 0;
  for (const Op* op : graph_.ops()) {
    if (llvm::all_of(op->results(), IsKnownToPlan)) {
      home_[op] = kEverywhere;
      continue;
    }
    unsigned home = 0;
    for (const Value* operand : op->operands()) home = std::max(home, HomeOf(operand));
    graph_.ForEachDefiner(
        *op, [&](const Op* definer) { home = std::max(home, HomeOf(definer->result()) + 1); });
    // Side effects keep their order.
    if (op->def().properties().has_side_effect) last_effect = home = std::max(home, last_effect);
    home_[op] = home;
    count_ = std::max(count_, home + 1);
  }
}

void Segments::ForEachCrossing(const Op& op, llvm::function_ref<void(Value*)> visit) const {
  const unsigned home = home_.lookup(&op);
  if (home == kEverywhere) return;
  for (Value* operand : op.operands()) {
    const Op* producer = operand->producer();
    // The size's value is passed between segments, because data_size has no kernel.
    while (producer && producer->def().properties().defines_size) {
      operand = producer->operands()[0];
      producer = operand->producer();
    }
    if (!producer || home_.lookup(producer) == kEverywhere) continue;
    if (home_.lookup(producer) != home) visit(operand);
  }
}

Segment Segments::Make(unsigned index) const {
  Segment segment;
  Graph& graph = segment.graph;
  graph = graph_.Clone();
  graph.ClearOutputs();
  graph.ClearTrainings();
  llvm::SetVector<Value*> outward;
  auto clone_of = [&](const Value* value) { return graph.FindValue(value->name()); };
  llvm::DenseMap<const Op*, unsigned> homes;  // of the clones
  for (auto [op, clone] : llvm::zip_equal(graph_.ops(), graph.ops())) {
    homes[clone] = home_.lookup(op);
    ForEachCrossing(*op, [&](Value* value) {
      if (HomeOf(value) == index) outward.insert(clone_of(value));
    });
    if (!op->def().properties().defines_size) continue;
    const std::string symbol = op->attributes().Dims("dims")[0].symbol().str();
    const unsigned home = HomeOf(op->result());
    if (home < index) segment.given.push_back(symbol);
    if (home != index) continue;
    segment.sizes.push_back(
        {symbol, op->operands()[0]->name(), graph_.PathToString(op->location())});
    outward.insert(clone_of(op->operands()[0]));
  }
  for (const GraphOutput& output : graph_.outputs())
    if (HomeOf(output.value) == index)
      graph.AddOutput(output.name, clone_of(output.value), output.comment);
  for (const GraphUpdate& update : graph_.updates()) {
    if (HomeOf(update.value) != index) continue;
    graph.AddUpdate(clone_of(update.state), clone_of(update.value));
    segment.always_runs |= update.value != update.state;
  }
  for (Value* value : outward) graph.AddOutput((kCrossing + value->name()).str(), value);
  // Results without a kernel are not used; the values themselves are outputs.
  std::vector<std::pair<Value*, Value*>> sizes;
  for (const Op* op : graph.ops())
    if (op->def().properties().defines_size) sizes.push_back({op->result(), op->operands()[0]});
  for (auto [size, count] : llvm::reverse(sizes)) graph.ReplaceAllUses(size, count);
  graph.EraseOps({}, [&](const Op& op) {
    const unsigned home = homes.lookup(&op);
    return op.def().properties().defines_size || (home != kEverywhere && home > index);
  });
  graph.CutOff([&](const Op& op) { return homes.lookup(&op) < index; });
  EliminateDeadCode(graph);
  for (const Op* op : graph.ops()) segment.always_runs |= op->def().properties().has_side_effect;
  return segment;
}

std::vector<std::vector<std::string>> Segments::Requested(
    llvm::ArrayRef<std::string> outputs) const {
  std::vector<std::vector<std::string>> requested(segments_.size());
  auto request = [&](unsigned index, std::string name) {
    if (!llvm::is_contained(requested[index], name)) requested[index].push_back(std::move(name));
  };
  ValueSet useful(graph_);
  for (const GraphOutput& output : graph_.outputs()) {
    if (!outputs.empty() && !llvm::is_contained(outputs, output.name)) continue;
    useful.insert(output.value);
    request(HomeOf(output.value), output.name);
  }
  for (const GraphUpdate& update : graph_.updates()) useful.insert(update.value);
  auto cross = [&](const Value* value) {
    request(HomeOf(value), (kCrossing + value->name()).str());
  };
  auto has_effect = [](const Op& op) { return op.def().properties().has_side_effect; };
  PropagateBackward(graph_.ops(), useful, has_effect, [&](const Op& op) {
    useful.InsertAll(op.operands());
    graph_.ForEachDefiner(op, [&](const Op* definer) {
      useful.insert(definer->result());
      cross(definer->operands()[0]);
    });
    ForEachCrossing(op, cross);
  });
  for (size_t i = 0; i < requested.size(); ++i)
    if (requested[i].empty() && segments_[i].always_runs) requested[i].push_back(kNoOutput.str());
  return requested;
}

}  // namespace pdl
