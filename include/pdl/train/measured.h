#ifndef PDL_TRAIN_MEASURED_H_
#define PDL_TRAIN_MEASURED_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// What a training run reports: the outputs of one element of its steps, losses first.
struct MetricNames {
  std::vector<std::string> all;
  /// How many of them are losses. Without `minimize`, the first output of floats is the loss.
  size_t losses = 0;
};
/// `step` is the network of a step that does all minimize statements of `network`.
PDL_API MetricNames NamesOfMetrics(const Graph& network, const Graph& step);

/// A network that computes what a step reports, under the same names, and changes no state.
PDL_API Graph MakeEvaluation(const Graph& network, const MetricNames& names);

/// The names of the parameters, and of the states that are there without the training of `network`:
/// not those of optimizers, and `step` only where something else uses it.
PDL_API llvm::StringSet<> VariablesToRun(const Graph& network);

/// The state that counts the steps, where nothing in the network of a step updates it; or null.
PDL_API const Value* FindStepCounter(const Graph& step);

}  // namespace pdl

#endif  // PDL_TRAIN_MEASURED_H_
