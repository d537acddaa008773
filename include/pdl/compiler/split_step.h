// Training steps that are computed from several micro-batches.
#ifndef PDL_COMPILER_SPLIT_STEP_H_
#define PDL_COMPILER_SPLIT_STEP_H_

#include <string>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/type.h"

namespace pdl {

/// The network of a training step in two parts, so that a step can be computed from several
/// micro-batches, by one process or several.
struct SplitStep {
  /// A value that `update` reads as the mean over the micro-batches of a step.
  struct Mean {
    /// The name of an output of `gradients` and of an input of `update`. Not a name of the
    /// language, so no other value has it.
    std::string name;
    /// A floating-point type of constant sizes.
    Type type;
  };

  /// Computes the outputs of the step (losses and metrics) and the values in `means` from one
  /// micro-batch. It updates no state.
  Graph gradients;
  /// Computes the new values of all states from the means. It has no outputs and no other inputs.
  Graph update;
  /// Gradients, and other values that depend on the examples and that updates read, such as the new
  /// running statistics of `batch_norm`. In the order of the calls that compute them.
  std::vector<Mean> means;
};

/// Splits the network of a training step, as StepPipeline() makes it. Where the loss is a mean over
/// examples, the mean of its gradients over micro-batches of equal size is the gradient of the
/// complete batch.
///
/// Returns a UserError (kBadMinimize) if an update reads a value that depends on the examples other
/// than through a gradient, and that has no mean: an integer, or a value whose size depends on the
/// batch; or if an optimizer is lazy, which needs the rows that a batch uses.
PDL_API llvm::Expected<SplitStep> SplitTrainingStep(const Graph& step);

}  // namespace pdl

#endif  // PDL_COMPILER_SPLIT_STEP_H_
