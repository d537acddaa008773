#ifndef PDL_RUNTIME_TRAINING_TRAINER_IMPL_H_
#define PDL_RUNTIME_TRAINING_TRAINER_IMPL_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pdl/op/host_copy.h"
#include "pdl/train/measured.h"
#include "pdl/train/trainer.h"
#include "runtime/training/batch.h"
#include "runtime/training/checkpoint.h"

namespace pdl {

/// Everything that decides how the run goes on. Holds the tensors of that moment, which later steps
/// do not write over.
struct Snapshot {
  std::vector<NamedTensor> tensors;
  TrainingProgress progress;
};

/// Null where the Scope has no tensor of the name.
const Tensor* FindTensor(const Scope& scope, llvm::StringRef name);
/// What a run has left of an output of one element.
double MetricIn(const Scope& scope, llvm::StringRef name);
bool HasFixedSize(const Type& type);
/// The part of a step's network that the trainer keeps in the Scope: states, and parameters that an
/// update changes.
std::vector<const Value*> KeptValues(const Graph& step);

/// trainer.cc trains; trainer_checkpoint.cc keeps and takes up what it has come to.
struct Trainer::Impl {
  Impl(const Graph& graph, Dataset data_in, TrainerOptions options_in, DeviceContext* context_in,
       const OpRegistry& registry_in)
      : network(graph.Clone()),
        data(std::move(data_in)),
        options(std::move(options_in)),
        context(*context_in),
        registry(registry_in),
        batch(data) {}

  /// What a step runs, and which metrics it gives, by their place in names.all.
  struct StepNetwork {
    std::shared_ptr<const Network> network;
    std::vector<std::string> outputs;
    std::vector<size_t> metrics;
  };

  llvm::Error MakeNetworks();
  llvm::Expected<StepNetwork> MakeStepNetwork(Graph step) const;
  /// The network of the next step.
  llvm::Expected<const StepNetwork*> NextNetwork();
  llvm::Error Begin();
  /// Which metric says what is best from now on, whose best value is none yet.
  void Watch(llvm::StringRef name, bool largest);
  /// "'loss' of the validation data".
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
  llvm::ArrayRef<int64_t> NextRows();
  /// The network of a step that does the minimize statements `active`.
  llvm::Expected<Graph> MakeStep(llvm::ArrayRef<unsigned> active) const;
  /// Runs a step.
  llvm::Error Run(const StepNetwork& next, StepReport* report);
  /// What a step or a measurement on these rows of `from` fails with, where something is not
  /// finite: names the first of the rows that has a nan or an infinity itself.
  llvm::Error NotFinite(std::string text, const Dataset& from, llvm::ArrayRef<int64_t> rows) const;
  llvm::Expected<StepReport> Step();
  llvm::Expected<std::vector<Metric>> Evaluate(const Dataset& measured_data);
  llvm::Expected<EpochReport> MeasureEpoch();
  llvm::Expected<TrainingEnd> Train(const TrainingCallbacks& callbacks);
  llvm::Expected<TrainingEnd> Loop(const TrainingCallbacks& callbacks);

  Snapshot TakeSnapshot() const;
  /// Writes a checkpoint, or what a run needs; with `checked` only if CheckLearned finds nothing.
  llvm::Error Write(llvm::StringRef path, const Snapshot& snapshot, bool checked) const;
  llvm::Error WriteWeights(llvm::StringRef path, const Snapshot& snapshot, bool checked) const;
  /// The tensors of a snapshot, and parameters that are not trained, on the CPU.
  llvm::Expected<std::vector<NamedTensor>> TensorsOf(const Snapshot& snapshot, bool checked) const;
  /// An Error where steps have made a parameter nan or infinite, or, where the network says itself
  /// what it learns, a state nan: from that no run goes on. `tensors` are those of the snapshot, on
  /// the CPU.
  llvm::Error CheckLearned(const Snapshot& snapshot, llvm::ArrayRef<NamedTensor> tensors) const;
  llvm::Error SaveLast();
  /// Writes what was put off.
  llvm::Error Flush();
  std::string FileOf(llvm::StringRef name) const { return options.folder + "/" + name.str(); }
  llvm::Error Resume(llvm::StringRef path);
  /// Of a checkpoint's `read`, what contradicts how this run goes on.
  std::vector<std::string> Contradictions(const TrainingProgress& read) const;
  /// Takes from a checkpoint's `read` what says which epoch is best; where that is something else
  /// here, none of the epochs so far is.
  void TakeBest(llvm::StringRef path, const TrainingProgress& read);

  void BeginEpoch() {
    progress.batch = 0;
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
  /// By the minimize statements that are done; `every` leaves some out. The states are the same.
  std::map<std::vector<unsigned>, StepNetwork> steps;
  /// That of all minimize statements.
  std::shared_ptr<const Network> step_network;
  std::shared_ptr<const Network> evaluation;
  std::string fingerprint;
  MetricNames names;
  /// The state that is the scale of the losses; empty where they are not scaled.
  std::string scale_state;
  std::string watched;  // which metric says what is best
  bool is_largest_best = false;
  bool has_warned_of_best = false;
  std::vector<std::string> warnings;
  /// The state that counts steps, where nothing in the network does.
  const Value* step_counter = nullptr;

  Scope scope;
  Batch batch;
  TrainingProgress progress;
  std::vector<int64_t> order;  // of the rows in this epoch
  bool has_order = false;

  std::optional<Snapshot> pending_last, pending_best;
  std::optional<std::chrono::steady_clock::time_point> last_write;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_TRAINER_IMPL_H_
