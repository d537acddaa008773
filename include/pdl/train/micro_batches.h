// Training steps that are computed from micro-batches, by one process or several.
#ifndef PDL_TRAIN_MICRO_BATCHES_H_
#define PDL_TRAIN_MICRO_BATCHES_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
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

class DeviceRanks;

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

/// How long the ranks of a step took from its beginning until they knew their gradients, in
/// seconds, without waiting for each other.
struct RankTimes {
  /// -1 without a communicator.
  int slowest_rank = -1;
  double slowest = 0, median = 0;
  /// The time of this rank, and how long it then waited for the sums over all ranks; 0 without a
  /// communicator.
  double own = 0, waited = 0;
};

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
    int rank = 0, ranks = 1;
  };
  /// Properties of a step besides its network.
  struct Properties {
    /// Names of outputs with one element.
    std::vector<std::string> metrics;
    /// The state with the loss scale, or empty.
    std::string scale_state;
    /// Null: each rank makes the complete update.
    const Sharding* sharding = nullptr;
    /// Gradients are added over ranks in buckets of at least this number of bytes, in the order of
    /// the calls that compute them: those of a rank's last micro-batch while later ones are
    /// computed, if calls are not observed one by one. If they are added on the CPU, that requires
    /// that they are also computed there, and Communicator::allows_any_thread.
    int64_t bucket_bytes = kBucketBytes;
  };
  static constexpr int64_t kBucketBytes = int64_t{8} << 20;
  /// `step` is the network of a step as StepPipeline() makes it. Returns the errors of
  /// SplitTrainingStep, ShardUpdate and Network::Create.
  static llvm::Expected<std::shared_ptr<const MicroBatchStep>> Create(const Graph& step,
                                                                      Properties properties,
                                                                      const NetworkOptions& options,
                                                                      const OpRegistry& registry);
  ~MicroBatchStep();

  /// One run of the step.
  struct Batch {
    BatchParts parts;
    /// Puts the inputs of a micro-batch into the Scope, by its number. Called for those of this
    /// rank, in order.
    llvm::function_ref<llvm::Error(int64_t)> put;
    RunOptions run;
    /// If not null, called with Result::metrics before parameters and states change. An Error ends
    /// the step; all ranks have the same metrics, and must return the same.
    llvm::function_ref<llvm::Error(llvm::ArrayRef<double>)> check = nullptr;
    /// The ranks that share the micro-batches, or null. They must run the same step of the same
    /// number of rows.
    Communicator* communicator = nullptr;
    /// The result of JoinRanks of Run's context for `communicator`: gradients and parameters stay
    /// on the device. Null: they are added on the CPU.
    DeviceRanks* device_ranks = nullptr;
    /// The number of the step in the run, and whether this rank was asked to stop.
    int64_t step = 0;
    bool stop = false;
    /// When this rank began the step: at the end of the step before.
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
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
    RankTimes times;
  };
  /// Runs the step: reads parameters and states from the Scope and writes their new values to it.
  /// Micro-batch k uses the random numbers of run `Network::RunCount + k`. A RankError if a rank
  /// does not answer or is at another step.
  llvm::Expected<Result> Run(const Batch& batch, Scope* scope, DeviceContext* context) const;

  /// The network of losses, gradients and other values that updates read, and that of the update.
  const Network& gradients() const { return *gradients_; }
  const Network& update() const { return *update_; }
  /// The buckets in the order in which they are added, with the names, types and bytes of their
  /// values, one value in a line.
  std::string BucketsToString() const;
  /// A hash of BucketsToString().
  uint64_t buckets_hash() const { return buckets_hash_; }

 private:
  class Runner;
  struct Bucket;
  MicroBatchStep();
  void FormBuckets(int64_t bucket_bytes, int ranks);

  /// A value that updates read: the rank that is the only one to read it, or kAllRanks.
  struct Mean : SplitStep::Mean {
    int reader;
  };
  /// Where a mean or a metric is among the values of a micro-batch: in those of f64 for a metric
  /// and a mean of that dtype, else in those of f32.
  struct Place {
    size_t bucket, offset;
    bool is_metric;
  };
  /// A parameter that a rank updates.
  struct OwnedParameter {
    std::string name;
    Type type;
    int owner;
  };
  static constexpr int kAllRanks = -1;

  std::shared_ptr<const Network> gradients_, update_;
  /// By bucket; then those that all ranks read come first, then those of rank 0, and so on.
  std::vector<Mean> means_;
  /// At least one; the last one has the metrics, too.
  std::vector<Bucket> buckets_;
  uint64_t buckets_hash_ = 0;
  llvm::StringMap<Place> places_;
  std::vector<OwnedParameter> owned_;
  std::vector<std::string> metrics_;
  std::string scale_state_;
};

}  // namespace pdl

#endif  // PDL_TRAIN_MICRO_BATCHES_H_
