#ifndef PDL_RUNTIME_TRAINING_TRAINER_IMPL_H_
#define PDL_RUNTIME_TRAINING_TRAINER_IMPL_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pdl/op/host_copy.h"
#include "pdl/train/best_epoch.h"
#include "pdl/train/measured.h"
#include "pdl/train/micro_batches.h"
#include "pdl/train/trainer.h"
#include "runtime/distributed/device_ranks.h"
#include "runtime/training/batch.h"
#include "runtime/training/checkpoint.h"

namespace pdl {

/// The state that determines the rest of the run. It holds the tensors of that moment, which later
/// steps do not overwrite.
struct Snapshot {
  std::vector<NamedTensor> tensors;
  TrainingProgress progress;
};

/// Returns null if the Scope has no tensor with the name.
const Tensor* FindTensor(const Scope& scope, llvm::StringRef name);
/// The value of a scalar output of the last run.
double MetricIn(const Scope& scope, llvm::StringRef name);
/// Merges lists of which rank r of n has items r, r + n, r + 2 n and so on; an item has `width`
/// values.
llvm::Expected<std::vector<double>> GatherByTurns(llvm::ArrayRef<double> own, size_t width,
                                                  Communicator& communicator);
/// The values of a step's network that the trainer keeps in the Scope: states, and parameters that
/// an update changes.
std::vector<const Value*> KeptValues(const Graph& step);

/// Training is implemented in trainer.cc and trainer_step.cc, checkpoints in trainer_checkpoint.cc.
struct Trainer::Impl {
  Impl(const Graph& graph, Dataset data_in, TrainerOptions options_in, DeviceContext* context_in,
       const OpRegistry& registry_in)
      : network(graph.Clone()),
        data(std::move(data_in)),
        options(std::move(options_in)),
        context(*context_in),
        registry(registry_in),
        batch(data) {}

  /// The network of a step, and the metrics that it computes, by index in names.all.
  struct StepNetwork {
    std::shared_ptr<const Network> network;
    std::vector<std::string> outputs;
    std::vector<size_t> metrics;
    /// Null without micro-batches.
    std::shared_ptr<const MicroBatchStep> micro_batches;
  };

  llvm::Error MakeNetworks();
  llvm::Expected<StepNetwork> MakeStepNetwork(Graph step) const;
  /// The network of the next step.
  llvm::Expected<const StepNetwork*> NextNetwork();
  llvm::Error Begin();
  /// Sets the metric that selects the best epoch, and resets the best value.
  void Watch(Monitor metric);
  /// Returns "'loss' of the validation data".
  std::string WhatSaysBest(const TrainingProgress& said) const;
  llvm::Error CheckOptions() const;
  int64_t BatchesInEpoch() const {
    const bool has_rest = progress.rows % options.batch_size != 0 && !options.drop_last;
    return progress.rows / options.batch_size + has_rest;
  }
  bool AtEndOfEpoch() const { return progress.batch == BatchesInEpoch(); }
  bool IsAtLimit() const {
    return (options.epochs > 0 && progress.epoch >= options.epochs) ||
           (options.steps > 0 && progress.step >= options.steps);
  }
  /// Whether there is nothing to measure in the batches of this epoch so far.
  bool IsPartMeasured() const { return progress.measured_batch == progress.batch; }
  llvm::ArrayRef<int64_t> NextRows();
  /// Creates the network of a step that runs the minimize statements `active`.
  llvm::Expected<Graph> MakeStep(llvm::ArrayRef<unsigned> active) const;
  /// Runs a step on the rows, and returns the values of its metrics.
  llvm::Expected<std::vector<double>> Run(const StepNetwork& next, llvm::ArrayRef<int64_t> rows,
                                          StepReport* report);
  RunOptions OptionsOfRun() const;
  /// The error of a step on the rows, with the number of the step.
  llvm::Error ErrorOfStep(llvm::Error error, llvm::ArrayRef<int64_t> rows) const;
  /// "; " and the first row that contains a nan or an infinity, of these rows of `from` or of those
  /// of the step before; empty if there is none.
  std::string RowThatIsNotFinite(const Dataset& from, llvm::ArrayRef<int64_t> rows) const;
  /// The error of a step or measurement on these rows of `from` that found a value that is not
  /// finite, with RowThatIsNotFinite.
  llvm::Error NotFinite(const std::string& text, const Dataset& from,
                        llvm::ArrayRef<int64_t> rows) const;
  /// "row 7 of train.npz has inf in 'x'", or "" if no row has a nan or an infinity.
  std::string DescribeNotFiniteRow(const Dataset& from, llvm::ArrayRef<int64_t> rows) const;
  llvm::Expected<StepReport> Step();
  llvm::Expected<std::vector<Metric>> Evaluate(const Dataset& measured_data);
  /// Returns the values of the outputs for each batch of an evaluation, in order. The ranks share
  /// the batches.
  llvm::Expected<std::vector<double>> EvaluateBatches(const Dataset& measured_data,
                                                      const RunOptions& run, Scope& own);
  llvm::Expected<EpochReport> MeasureEpoch();
  llvm::Expected<TrainingEnd> Train(const TrainingCallbacks& callbacks);
  llvm::Expected<TrainingEnd> Loop(const TrainingCallbacks& callbacks);

  /// The state of this rank.
  Snapshot TakeOwnSnapshot() const;
  /// With sharded states, all ranks make this call, and rank 0 has the states of all.
  llvm::Expected<Snapshot> TakeSnapshot();
  /// Adds the states that other ranks keep to rank 0's snapshot.
  llvm::Error GatherStates(Snapshot* snapshot);
  /// Writes a checkpoint, or only the values for inference; with `checked`, only if CheckLearned
  /// succeeds.
  llvm::Error Write(llvm::StringRef path, const Snapshot& snapshot, bool checked) const;
  llvm::Error WriteWeights(llvm::StringRef path, const Snapshot& snapshot, bool checked) const;
  /// The tensors of a snapshot, and parameters that are not trained, on the CPU.
  llvm::Expected<std::vector<NamedTensor>> TensorsOf(const Snapshot& snapshot, bool checked) const;
  /// Fails if steps have made a parameter nan or infinite, or, without minimize statements, a state
  /// nan, because no run can continue from that. `tensors` are those of the snapshot, on the CPU.
  llvm::Error CheckLearned(const Snapshot& snapshot, llvm::ArrayRef<NamedTensor> tensors) const;
  llvm::Error SaveLast();
  llvm::Error SaveEpoch(bool is_best);
  llvm::Error Save(llvm::StringRef path);
  /// Writes pending snapshots.
  llvm::Error Flush();
  std::string FileOf(llvm::StringRef name) const { return options.folder + "/" + name.str(); }
  llvm::Error Resume(llvm::StringRef path);
  /// An Error if a checkpoint has not the parameters and states of a step.
  llvm::Error CheckTensors(llvm::StringRef path, const Checkpoint& checkpoint) const;
  /// An Error if a checkpoint's `read` has other states because of its options.
  llvm::Error CheckMode(llvm::StringRef path, const TrainingProgress& read) const;
  /// The differences between a checkpoint's `read` and this run that prevent resuming it.
  std::vector<std::string> Contradictions(const TrainingProgress& read) const;
  /// Takes the best value from a checkpoint's `read`, unless this run selects the best epoch
  /// differently.
  void TakeBest(llvm::StringRef path, const TrainingProgress& read);

  // --- Micro-batches and ranks: trainer_micro_batches.cc, trainer_ranks.cc
  bool uses_micro_batches() const { return progress.micro_batch > 0; }
  /// Whether there are other ranks.
  bool is_distributed() const {
    return options.communicator != nullptr && options.communicator->size() > 1;
  }
  /// Sets options.micro_batch and progress.micro_batch, and checks that ranks divide the batch.
  llvm::Error SetMicroBatch();
  llvm::Expected<std::vector<double>> RunMicroBatches(const StepNetwork& next,
                                                      llvm::ArrayRef<int64_t> rows,
                                                      StepReport* report);
  /// Checks once that all ranks do the same, and takes over the state of rank 0.
  llvm::Error JoinRanks();
  llvm::Error CompareRanks() const;
  /// Lets gradients be added where they are computed, if that is possible.
  llvm::Error JoinDevice();
  llvm::Error TakeStateOfRank0();
  /// The owners of the updates of `step`, in which all minimize statements are active.
  llvm::Error ShareOptimizer(const Graph& step);
  /// The only rank that keeps a state; nullopt if all have it.
  std::optional<int> KeeperOf(const Value& value) const;
  /// Removes the states that other ranks keep.
  void DropStatesOfOthers();
  /// An error that all ranks return: as it is on rank 0, else ReportedByOtherRank.
  llvm::Error ErrorOfAll(llvm::Error error) const;

  void BeginEpoch() {
    progress.batch = progress.measured_batch = 0;
    progress.sums.assign(names.all.size(), 0);
    progress.summed_rows.assign(names.all.size(), 0);
    has_order = false;
  }

  const Graph network;
  const Dataset data;
  std::optional<Dataset> validation;
  TrainerOptions options;
  DeviceContext& context;
  const OpRegistry& registry;
  /// By the active minimize statements; `every` omits some. All have the same states.
  std::map<std::vector<unsigned>, StepNetwork> steps;
  /// The network with all minimize statements.
  std::shared_ptr<const Network> step_network;
  std::shared_ptr<const Network> evaluation;
  std::string fingerprint;
  /// With shard_optimizer and several ranks; constant after Create.
  std::optional<MicroBatchStep::Sharding> sharding;
  /// Whether rank 0 writes checkpoints.
  bool saves = false;
  MetricNames names;
  /// The state with the loss scale; empty if losses are not scaled.
  std::string scale_state;
  Monitor monitor;
  bool has_warned_of_best = false;
  std::vector<std::string> warnings;
  /// The state that counts steps if no update of the network does.
  const Value* step_counter = nullptr;

  Scope scope;
  Batch batch;
  TrainingProgress progress;
  std::vector<int64_t> order;  // of the rows in this epoch
  bool has_order = false;
  std::vector<int64_t> rows_before;  // of the last step

  bool has_joined = false;
  /// Null if gradients are added on the CPU, and before JoinDevice.
  std::shared_ptr<DeviceRanks> device_ranks;
  bool has_joined_device = false;
  /// The flag of Train's callbacks, and whether the ranks have agreed in the last step to stop.
  const std::atomic<bool>* stop = nullptr;
  bool ranks_stop = false;
  /// When this rank began the next step.
  std::chrono::steady_clock::time_point step_begin;

  std::optional<Snapshot> pending_last, pending_best;
  std::optional<std::chrono::steady_clock::time_point> last_write;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_TRAINER_IMPL_H_
