// Module: ir
#ifndef PDL_COMPILER_TRAINING_H_
#define PDL_COMPILER_TRAINING_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// Returns the network of one training step, from a graph that was compiled with
/// CompileRequest::training_step. Its outputs are the losses, under their names in the source, and
/// the graph's outputs that have one element. Its states are the parameters that a `minimize`
/// statement changes, under their own names, the optimizer states below them ("w.adam.m"), and the
/// step counter `step`. All new values are computed from the parameters' values before the step.
///
/// `active` has the indices of the statements of graph.trainings() that take part in the step
/// (those with `every=n` are not in each one); the states do not depend on it. Run the network with
/// `training=true`. Returns a UserError (kBadMinimize) if the graph has no `minimize` statement, an
/// index is out of range, or the graph was not compiled for training.
PDL_API llvm::Expected<Graph> MakeTrainingStep(const Graph& graph, llvm::ArrayRef<unsigned> active);
/// As above, with all `minimize` statements.
PDL_API llvm::Expected<Graph> MakeTrainingStep(const Graph& graph);
/// As above, in place. After an Error the graph is unchanged or has no outputs.
PDL_API llvm::Error BecomeTrainingStep(Graph& graph, llvm::ArrayRef<unsigned> active);
/// Returns the indices of all `minimize` statements.
PDL_API llvm::SmallVector<unsigned, 2> AllTrainings(const Graph& graph);

}  // namespace pdl

#endif  // PDL_COMPILER_TRAINING_H_
