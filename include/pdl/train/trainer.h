#ifndef PDL_TRAIN_TRAINER_H_
#define PDL_TRAIN_TRAINER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/network.h"
#include "pdl/train/dataset.h"

namespace pdl {

/// How a Trainer works.
struct TrainerOptions {
  /// Rows in a batch; the last one of an epoch may have fewer.
  int64_t batch_size = 32;
  /// The run ends after so many epochs, or steps, whichever comes first; 0 is no limit. Counted
  /// from the beginning of the run, also of one that was resumed.
  int64_t epochs = 1;
  int64_t steps = 0;
  /// Of initial parameters, of random operators and of the order of the rows.
  uint64_t seed = 0;
  /// Takes the rows in another order in each epoch, else in theirs.
  bool shuffle = true;
  /// Leaves out the last batch of an epoch where it is short.
  bool drop_last = false;
  /// Looks at the result of every call: see RunOptions::check_finite.
  bool check_finite = false;
  /// Where `last.safetensors`, a checkpoint, and `best.safetensors`, as SaveWeights writes it, are
  /// kept; empty: nowhere. The folder is there.
  std::string folder;
  /// Writes last.safetensors after so many steps, besides at the ends of epochs; 0: only there.
  /// Epochs that follow each other in less than `save_seconds` share one file, written in the end.
  int64_t save_every = 0;
  double save_seconds = 5;
  /// The metric that says what is best: of the validation data where there are some, else of the
  /// training data. Empty: the first loss, and after Resume what said it there.
  std::string monitor;
  /// Larger is better; said without `monitor`, of the first loss.
  bool monitor_largest = false;
  /// Ends the run after so many epochs that were not better than the best one; 0: never.
  int64_t patience = 0;
  /// Weights and folders; its seed is not used. Its precision is that of the steps: with kF16 the
  /// losses are scaled, and a step whose gradients overflow changes nothing but the scale, which is
  /// kept in the checkpoint. Measured is in f32.
  NetworkOptions network;
};

/// A loss, or an output of one element.
struct Metric {
  std::string name;
  double value = 0;
};

/// What one step gave.
struct StepReport {
  int64_t step = 0;     // steps done, this one counted
  int64_t epoch = 0;    // from 1
  int64_t batch = 0;    // of the epoch, from 1
  int64_t batches = 0;  // in an epoch
  int64_t rows = 0;
  /// What the losses were scaled by; 0 where they are not.
  double loss_scale = 0;
  /// A gradient was not finite, so the step changed nothing but the scale.
  bool is_skipped = false;
  /// Computed before the parameters changed; losses first. Of what a step leaves out (`every`)
  /// there is none.
  std::vector<Metric> metrics;
};

/// What an epoch gave.
struct EpochReport {
  int64_t step = 0;
  int64_t epoch = 0;
  /// Means over the rows of the epoch.
  std::vector<Metric> training;
  /// Of the validation data, in inference mode; empty where there are none.
  std::vector<Metric> validation;
  bool is_best = false;
  /// Once in a run: why no epoch can be best, because the metric that says it is nan.
  std::string warning;
};

/// Why Train came back.
enum class TrainingEnd : uint8_t {
  kDone,      // as many epochs or steps as wanted
  kPatience,  // no epoch was better for long
  kStopped,   // `stop` became true
};

/// Called from Train, in its thread; may be empty. An Error ends the training.
struct TrainingCallbacks {
  std::function<llvm::Error(const StepReport&)> on_step;
  std::function<llvm::Error(const EpochReport&)> on_epoch;
  /// Where set and true, the run ends after the step that is being done, and saves.
  const std::atomic<bool>* stop = nullptr;
};

/// Trains a network: makes batches of data, runs the network of a step on each, and keeps what the
/// steps change: parameters, states, and the optimizers' states. The same network, data, options
/// and count of steps give the same bits, on one kind of device, with any number of threads, and
/// also where the run was broken off and resumed.
class PDL_API Trainer {
 public:
  /// `network` is one with `minimize`, compiled for training, or one that computes all its updates
  /// itself: then what it updates is what is trained, and its first output that is one float is the
  /// loss. `context` and `registry` must outlive the Trainer.
  static llvm::Expected<std::unique_ptr<Trainer>> Create(const Graph& network, Dataset data,
                                                         TrainerOptions options,
                                                         DeviceContext* context,
                                                         const OpRegistry& registry);
  ~Trainer();

  /// What each epoch is measured by, in inference mode. To be called before Resume.
  void SetValidation(Dataset data);

  /// Goes on from a checkpoint, of this network and these data, seed and batches, and of the same
  /// initial weights where options.network has some; an Error says what differs, and changes
  /// nothing. Where validation data told the best epoch, some must be set. If something else says
  /// what is best than before, a warning tells, and the next epoch is the best one. To be called
  /// before the first step.
  llvm::Error Resume(llvm::StringRef path);
  /// Writes a checkpoint: all that Resume needs. `pdl run --weights` takes it, too.
  llvm::Error Save(llvm::StringRef path);
  /// Writes the parameters, and the states that the network has without its training: what running
  /// it needs, and Resume does not take.
  llvm::Error SaveWeights(llvm::StringRef path);

  /// Trains on the next batch. An Error of Code::kNotFinite where a loss is nan or infinite, or a
  /// gradient however small the scale has become.
  llvm::Expected<StepReport> Step();
  /// Means over the rows of `data`, in inference mode.
  llvm::Expected<std::vector<Metric>> Evaluate(const Dataset& data);
  /// Steps to the end, measures each epoch, and keeps the checkpoints in options.folder. Where it
  /// ends with an Error, the last good checkpoint is there.
  llvm::Expected<TrainingEnd> Train(const TrainingCallbacks& callbacks = {});

  /// Steps done, epochs done and measured, batches in an epoch.
  int64_t step() const;
  int64_t epoch() const;
  int64_t batches() const;
  /// Names of what a step reports: losses, then outputs of one element.
  llvm::ArrayRef<std::string> metrics() const;
  llvm::ArrayRef<std::string> losses() const;
  /// The value of a parameter or state now, on the CPU.
  llvm::Expected<Tensor> ValueOf(llvm::StringRef name) const;
  /// What Resume found odd: the network computes something else than when the checkpoint was made,
  /// or something else says what is best.
  llvm::ArrayRef<std::string> warnings() const;

 private:
  struct Impl;
  explicit Trainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Of a checkpoint: how far its run had come, and how it made its batches.
struct CheckpointInfo {
  int64_t step = 0;
  int64_t epoch = 0;
  uint64_t seed = 0;
  int64_t batch_size = 0;
  bool shuffle = true;
  bool drop_last = false;
  DType precision = DType::kF32;
};
/// An Error where the file is broken, or no checkpoint.
PDL_API llvm::Expected<CheckpointInfo> ReadCheckpointInfo(llvm::StringRef path);
/// Whether a file of weights is one: it also has states of optimizers, which no network has.
PDL_API bool IsCheckpoint(const SafetensorsFile& file);

}  // namespace pdl

#endif  // PDL_TRAIN_TRAINER_H_
