#include "pdl/compiler/training.h"

#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {

llvm::SmallVector<unsigned, 2> AllTrainings(const Graph& graph) {
  llvm::SmallVector<unsigned, 2> all(graph.trainings().size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

llvm::Expected<Graph> MakeTrainingStep(const Graph& graph) {
  return MakeTrainingStep(graph, AllTrainings(graph));
}

llvm::Expected<Graph> MakeTrainingStep(const Graph& graph, llvm::ArrayRef<unsigned> active) {
  Graph step = graph.Clone();
  if (llvm::Error error = BecomeTrainingStep(step, active)) return error;
  return step;
}

llvm::Error BecomeTrainingStep(Graph& step, llvm::ArrayRef<unsigned> active) {
  if (step.trainings().empty())
    return MakeUserError(Code::kBadMinimize, "there is nothing to train: no minimize statement");
  for (const GraphTraining& training : step.trainings())
    if (training.updates.empty())
      return MakeUserError(Code::kBadMinimize, "the network was not compiled for training");
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
  return llvm::Error::success();
}

}  // namespace pdl
