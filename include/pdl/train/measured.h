#ifndef PDL_TRAIN_MEASURED_H_
#define PDL_TRAIN_MEASURED_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The metrics that training reports: the outputs with one element of a step, losses first.
struct MetricNames {
  std::vector<std::string> all;
  /// The number of losses. Without `minimize`, the first floating-point output is the loss.
  size_t losses = 0;
};
/// Returns the metrics of `step`, the network of a step in which all `minimize` statements of
/// `network` are active.
PDL_API MetricNames NamesOfMetrics(const Graph& network, const Graph& step);

/// Returns a network that computes the metrics, under the same names, without updating states.
PDL_API Graph MakeEvaluation(const Graph& network, const MetricNames& names);

/// Returns the names of the parameters and of the states that `network` has apart from its
/// training: no states of optimizers, and `step` only if something else uses it.
PDL_API llvm::StringSet<> VariablesToRun(const Graph& network);

/// Returns the step counter if nothing in the network of a step updates it; otherwise null.
PDL_API const Value* FindStepCounter(const Graph& step);

}  // namespace pdl

#endif  // PDL_TRAIN_MEASURED_H_
