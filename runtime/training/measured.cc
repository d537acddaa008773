#include "pdl/train/measured.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"

namespace pdl {
namespace {

/// The value of `graph` that a step reports as `name`: an output, or a loss.
Value* FindMeasured(const Graph& graph, llvm::StringRef name) {
  for (const GraphTraining& training : graph.trainings())
    if (training.loss->name() == name) return training.loss;
  if (const GraphOutput* output = graph.FindOutput(name)) return output->value;
  return graph.FindValue(name);
}

}  // namespace

MetricNames NamesOfMetrics(const Graph& network, const Graph& step) {
  std::vector<std::string> losses, others;
  for (const GraphOutput& output : step.outputs()) {
    if (!output.value->type().is_scalar()) continue;
    const bool is_loss = network.trainings().empty()
                             ? losses.empty() && IsFloat(output.value->type().dtype)
                             : llvm::any_of(network.trainings(), [&](const GraphTraining& each) {
                                 return each.loss->name() == output.name;
                               });
    (is_loss ? losses : others).push_back(output.name);
  }
  MetricNames names;
  names.losses = losses.size();
  names.all = std::move(losses);
  names.all.insert(names.all.end(), others.begin(), others.end());
  return names;
}

Graph MakeEvaluation(const Graph& network, const MetricNames& names) {
  Graph graph = network.Clone();
  std::vector<std::pair<std::string, Value*>> outputs;
  for (const std::string& name : names.all)
    if (Value* value = FindMeasured(graph, name)) outputs.emplace_back(name, value);
  graph.ClearOutputs();
  graph.ClearTrainings();
  for (const auto& [name, value] : outputs) graph.AddOutput(name, value);
  return graph;
}

llvm::StringSet<> VariablesToRun(const Graph& network) {
  llvm::StringSet<> names;
  for (const auto& values : {network.parameters(), network.states()})
    for (const Value* value : values) names.insert(value->name());
  if (network.trainings().empty()) return names;
  for (const GraphTraining& training : network.trainings())
    for (const GraphUpdate& update : training.updates)
      if (update.state->kind() == ValueKind::kState) names.erase(update.state->name());
  Graph run = network.Clone();
  run.ClearTrainings();
  Value* step = run.FindValue("step");
  if (step == nullptr || step->kind() != ValueKind::kState) return names;
  // Removes the update that counts steps.
  run.AddUpdate(step, step);
  EliminateDeadCode(run);
  if (step->uses().empty()) names.erase("step");
  return names;
}

const Value* FindStepCounter(const Graph& step) {
  const Value* counter = step.FindValue("step");
  if (counter == nullptr || counter->kind() != ValueKind::kState ||
      counter->type() != Type(DType::kI64, {}))
    return nullptr;
  const bool is_updated =
      llvm::any_of(step.updates(), [&](const GraphUpdate& each) { return each.state == counter; });
  return is_updated ? nullptr : counter;
}

}  // namespace pdl
