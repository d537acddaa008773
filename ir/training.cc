#include "pdl/training.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/error.h"
#include "pdl/passes.h"

namespace pdl {

llvm::Expected<Graph> MakeTrainingStep(const Graph& graph) {
  llvm::SmallVector<unsigned, 2> all;
  for (unsigned i = 0; i < graph.trainings().size(); ++i) all.push_back(i);
  return MakeTrainingStep(graph, all);
}

llvm::Expected<Graph> MakeTrainingStep(const Graph& graph, llvm::ArrayRef<unsigned> active) {
  if (graph.trainings().empty())
    return MakeUserError(Code::kBadMinimize, "there is nothing to train: no minimize statement");
  for (const GraphTraining& training : graph.trainings())
    if (training.updates.empty())
      return MakeUserError(Code::kBadMinimize, "the network was not compiled for training");
  Graph step = graph.Clone();
  const std::vector<GraphTraining> trainings = step.trainings().vec();
  const std::vector<GraphOutput> outputs = step.outputs().vec();
  const std::vector<GraphUpdate> updates = step.updates().vec();
  step.ClearOutputs();
  step.ClearTrainings();
  llvm::StringSet<> named;
  auto add_output = [&](const std::string& name, Value* value, const std::string& comment) {
    if (value->type().is_scalar() && named.insert(name).second)
      step.AddOutput(name, value, comment);
  };
  for (const unsigned index : active) {
    if (index >= trainings.size())
      return MakeUserError(Code::kBadMinimize, "there are {0} minimize statements, got number {1}",
                           trainings.size(), index);
    add_output(trainings[index].loss->name(), trainings[index].loss, "");
  }
  for (const GraphOutput& output : outputs) add_output(output.name, output.value, output.comment);
  for (const GraphUpdate& update : updates) step.AddUpdate(update.state, update.value);
  for (const unsigned index : active)
    for (const GraphUpdate& update : trainings[index].updates)
      step.AddUpdate(update.state, update.value);
  for (const GraphTraining& training : trainings)
    for (const GraphUpdate& update : training.updates)
      if (update.state->kind() == ValueKind::kParameter) step.MakeState(update.state);
  EliminateDeadCode(step);
  return step;
}

}  // namespace pdl
