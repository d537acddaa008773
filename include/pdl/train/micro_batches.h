// Training steps that are computed from micro-batches, by one process or several.
#ifndef PDL_TRAIN_MICRO_BATCHES_H_
#define PDL_TRAIN_MICRO_BATCHES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/shard_update.h"
#include "pdl/compiler/split_step.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/scope.h"
#include "pdl/train/communicator.h"

namespace pdl {

/// The micro-batches of one step: numbers k = 0, 1, … with the rows from k `micro_batch` on; the
/// last one may have fewer rows.
struct BatchParts {
  /// The number of rows of the batch, and of a micro-batch; both at least 1.
  int64_t rows = 1, micro_batch = 1;
  /// The number of micro-batches.
  int64_t count() const { return (rows + micro_batch - 1) / micro_batch; }
};

/// Consecutive micro-batches, possibly none.
struct MicroBatchRange {
  int64_t begin = 0, end = 0;
};
/// Distributes `count` micro-batches over ranks, in order: each has the same number, except that
/// the last ones may have fewer.
PDL_API MicroBatchRange MicroBatchesOf(int64_t count, int rank, int ranks);

/// A training step that is computed from micro-batches: losses, metrics, gradients and other values
/// of the step are the means of those of its micro-batches, weighted by their rows, and added over
/// a binary tree that depends on the number of micro-batches only. Ranks share the micro-batches;
/// the step has the same bits for any number of them.
class PDL_API MicroBatchStep {
 public:
  /// How ranks divide the update: each makes those that it owns, and sends the parameters to the
  /// others. A rank has no states that others own.
  struct Sharding {
    /// Of a step in which all `minimize` statements are active.
    UpdateOwners owners;
    int rank = 0;
  };
  /// `step` is the network of a step as StepPipeline() makes it; `metrics` are names of outputs
  /// with one element; `scale_state` is the state with the loss scale, or empty; `sharding` may be
  /// null. Returns the errors of SplitTrainingStep, ShardUpdate and Network::Create.
  static llvm::Expected<std::shared_ptr<const MicroBatchStep>> Create(
      const Graph& step, std::vector<std::string> metrics, std::string scale_state,
      const NetworkOptions& options, const OpRegistry& registry, const Sharding* sharding);

  /// One run of the step.
  struct Batch {
    BatchParts parts;
    /// Puts the inputs of a micro-batch into the Scope, by its number. Called for those of this
    /// rank, in order.
    llvm::function_ref<llvm::Error(int64_t)> put;
    RunOptions run;
    /// The ranks that share the micro-batches, or null. They must run the same step of the same
    /// number of rows.
    Communicator* communicator = nullptr;
    /// The number of the step in the run, and whether this rank was asked to stop.
    int64_t step = 0;
    bool stop = false;
  };
  struct Result {
    /// In the order of `metrics`.
    std::vector<double> metrics;
    /// The scale of the losses; 0 if they are not scaled.
    double loss_scale = 0;
    /// Whether a gradient was not finite, so that the step only changed the scale.
    bool is_skipped = false;
    /// Whether any rank was asked to stop.
    bool stop = false;
  };
  /// Runs the step: reads parameters and states from the Scope and writes their new values to it.
  /// Micro-batch k uses the random numbers of run `Network::RunCount + k`. A RankError if a rank
  /// does not answer or is at another step.
  llvm::Expected<Result> Run(const Batch& batch, Scope* scope, DeviceContext* context) const;

 private:
  class Runner;
  MicroBatchStep() = default;

  /// A value that updates read: the rank that is the only one to read it, or kAllRanks.
  struct Mean : SplitStep::Mean {
    int reader;
  };
  /// A parameter that a rank updates.
  struct OwnedParameter {
    std::string name;
    Type type;
    int owner;
  };
  static constexpr int kAllRanks = -1;

  std::shared_ptr<const Network> gradients_, update_;
  /// Those that all ranks read come first, then those of rank 0, and so on.
  std::vector<Mean> means_;
  std::vector<OwnedParameter> owned_;
  std::vector<std::string> metrics_;
  std::string scale_state_;
};

}  // namespace pdl

#endif  // PDL_TRAIN_MICRO_BATCHES_H_
