// Module: ir
#ifndef PDL_COMPILER_TRAINING_H_
#define PDL_COMPILER_TRAINING_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The network of one step of training, from a graph compiled with CompileRequest::training_step.
/// Its outputs are the losses, each under the name that the text has for it, and the outputs of the
/// graph that are single numbers. What it learns are states: all parameters that a minimize
/// statement changes, under their own names, with the optimizers' states below them ("w.adam.m"),
/// and `step`, which counts. All next values come from what the parameters were before the step.
///
/// `active`: which of graph.trainings() are done, by index; those of `every=n` are not in each
/// step. The states are the same ones for every choice. To be run with `training=true`. A UserError
/// (kBadMinimize) where the graph has no minimize statement, an index is out of range, or the graph
/// was not compiled for training.
PDL_API llvm::Expected<Graph> MakeTrainingStep(const Graph& graph, llvm::ArrayRef<unsigned> active);
/// With all minimize statements.
PDL_API llvm::Expected<Graph> MakeTrainingStep(const Graph& graph);
/// The same in place; an Error leaves the graph as it was, or without outputs.
PDL_API llvm::Error BecomeTrainingStep(Graph& graph, llvm::ArrayRef<unsigned> active);
/// The indices of all minimize statements.
PDL_API llvm::SmallVector<unsigned, 2> AllTrainings(const Graph& graph);

}  // namespace pdl

#endif  // PDL_COMPILER_TRAINING_H_
