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
#include "pdl/train/communicator.h"
#include "pdl/train/dataset.h"
#include "pdl/train/micro_batches.h"

namespace pdl {

/// Options of a Trainer.
struct TrainerOptions {
  /// The number of rows in a batch; the last batch of an epoch may have fewer.
  int64_t batch_size = 32;
  /// Computes the gradients of a step from micro-batches of this number of rows, in at most
  /// `batch_size`, which take less memory and may be distributed over ranks. All values of a step
  /// that depend on its rows (losses, metrics, gradients, new running statistics) are the means of
  /// those of the micro-batches, weighted by their rows, and added in an order that depends on the
  /// number of micro-batches only. 0: the rows that a rank has of a batch; without a communicator
  /// the complete batch.
  int64_t micro_batch = 0;
  /// The ranks that train together; null: only this process. All of them make the same calls of the
  /// Trainer with the same network, data and options, except that only rank 0 needs `folder` and
  /// Resume. A step has the same bits for any number of ranks. If all ranks find the same error,
  /// rank 0 returns it and the others a ReportedByOtherRank; after any other Error the communicator
  /// cannot be used any more. Must outlive the Trainer.
  Communicator* communicator = nullptr;
  /// Gradients are added over the ranks in buckets of at least this number of bytes, as soon as
  /// they are computed and while others still are. Does not change the result.
  int64_t bucket_bytes = MicroBatchStep::kBucketBytes;
  /// Adds gradients of micro-batches and ranks on the CPU also if a GPU computes them, which needs
  /// no library for the communication of GPUs. Does not change the result.
  bool cpu_sums = false;
  /// Divides the updates over the ranks: each keeps the states of optimizers for a part of the
  /// parameters only. Results and checkpoints have the same bits as without. Save must then be
  /// called by all ranks. Excludes `average`; without other ranks it has no effect.
  bool shard_optimizer = false;
  /// Training ends after this number of epochs or steps, whichever comes first; 0: no limit.
  /// Counted from the beginning of the original run if it is resumed.
  int64_t epochs = 1;
  int64_t steps = 0;
  /// Seed of initial parameters, random operators and the order of the rows.
  uint64_t seed = 0;
  /// Shuffles the rows in each epoch.
  bool shuffle = true;
  /// Skips the last batch of an epoch if it is incomplete.
  bool drop_last = false;
  /// Checks the result of every call: see RunOptions::check_finite.
  bool check_finite = false;
  /// Checks the indices of every call: see RunOptions::check_indices.
  bool check_indices = false;
  /// An existing folder for `last.safetensors`, a checkpoint, and `best.safetensors`, written as by
  /// SaveWeights; empty: nothing is written.
  std::string folder;
  /// Writes last.safetensors after this number of steps, in addition to the ends of epochs; 0: at
  /// the ends of epochs only. If epochs take less than `save_seconds`, not every one is saved, but
  /// always the last one.
  int64_t save_every = 0;
  double save_seconds = 5;
  /// The metric that determines the best epoch: on the validation data if there are any, else on
  /// the training data, as Monitor::Parse takes it ("right:max"). Empty: the first loss or, after
  /// Resume, the metric of the checkpoint.
  std::string monitor;
  /// Training ends after this number of epochs without an improvement; 0: never.
  int64_t patience = 0;
  /// Keeps moving averages of the parameters with this decay, in 0..1, usually 0.99 to 0.9999: each
  /// step moves them by the fraction 1 - decay towards the parameters (see AverageParameters).
  /// Evaluate and SaveWeights use the averages instead of the parameters; a checkpoint has both.
  /// 0: none.
  double average = 0;
  /// Weights and folders; its seed is ignored. Its precision is that of the training steps: with
  /// kF16 the losses are scaled, and a step whose gradients overflow only changes the scale, which
  /// is part of the checkpoint. Evaluation is in f32.
  NetworkOptions network;
};

/// A metric: a loss, or an output with one element.
struct Metric {
  std::string name;
  double value = 0;
};

/// The results of one step.
struct StepReport {
  int64_t step = 0;     // number of steps done, including this one
  int64_t epoch = 0;    // from 1
  int64_t batch = 0;    // of the epoch, from 1
  int64_t batches = 0;  // in an epoch
  int64_t rows = 0;
  /// The scale of the losses; 0 if they are not scaled.
  double loss_scale = 0;
  /// Whether a gradient was not finite, so that the step only changed the scale.
  bool is_skipped = false;
  /// Of a step that several ranks share. The first one has made the plans of its networks.
  RankTimes times;
  /// Losses first; computed before the parameters changed. Losses that are not active in this step
  /// (`every`) are omitted.
  std::vector<Metric> metrics;
};

/// The results of one epoch, or of the part of it after which the run ended.
struct EpochReport {
  int64_t step = 0;
  int64_t epoch = 0;
  /// The batches that were trained on, and those of the epoch.
  int64_t batches_done = 0;
  int64_t batches = 0;
  /// Means over the rows of these batches, of the values that each step computed before it changed
  /// the parameters.
  std::vector<Metric> training;
  /// The metrics on the validation data, in inference mode; empty if there are none.
  std::vector<Metric> validation;
  /// Whether best.safetensors is replaced: a part of an epoch is never better than a complete one,
  /// so that a run that is resumed selects the same epoch as one that was not interrupted.
  bool is_best = false;
  bool is_complete() const { return batches_done == batches; }
  /// Set at most once in a run: why no epoch can be the best one, namely that the metric is NaN.
  std::string warning;
};

/// Why Train returned.
enum class TrainingEnd : uint8_t {
  kDone,      // reached the number of epochs or steps
  kPatience,  // no improvement for `patience` epochs
  kStopped,   // `stop` became true
};

/// Callbacks of Train, called in its thread; may be empty. An Error ends the training.
struct TrainingCallbacks {
  std::function<llvm::Error(const StepReport&)> on_step;
  std::function<llvm::Error(const EpochReport&)> on_epoch;
  /// If not null and true, training ends after the current step and saves.
  const std::atomic<bool>* stop = nullptr;
};

/// Trains a network: batches the data, runs the network of a training step on each batch, and keeps
/// the parameters, states and optimizer states that steps change. The same network, data, options
/// and number of steps give the same bits on one kind of device, with any number of threads, and
/// also if the run was interrupted and resumed. Not thread-safe.
class PDL_API Trainer {
 public:
  /// `network` either has `minimize` and was compiled for training, or computes all its updates
  /// itself: then its updates are the training, and its first floating-point output with one
  /// element is the loss. `context` and `registry` must outlive the Trainer.
  static llvm::Expected<std::unique_ptr<Trainer>> Create(const Graph& network, Dataset data,
                                                         TrainerOptions options,
                                                         DeviceContext* context,
                                                         const OpRegistry& registry);
  ~Trainer();

  /// Sets the validation data, on which each epoch is evaluated in inference mode. Must be called
  /// before Resume.
  void SetValidation(Dataset data);

  /// Continues from a checkpoint of a run with the same network, data, seed and batches, and the
  /// same initial weights if options.network has any. An Error says what differs, and changes
  /// nothing. If validation data determined the best epoch, validation data must be set. If the
  /// best epoch is now determined differently, a warning is added, and the next epoch becomes the
  /// best one. Must be called before the first step.
  llvm::Error Resume(llvm::StringRef path);
  /// Writes a checkpoint for Resume; it is also accepted by `pdl run --weights`. With sharded
  /// states, all ranks call it, and rank 0 writes.
  llvm::Error Save(llvm::StringRef path);
  /// Writes the parameters and the states that the network has apart from its training: sufficient
  /// to run the network, but not to Resume.
  llvm::Error SaveWeights(llvm::StringRef path);

  /// Trains on the next batch. Returns an Error of Code::kNotFinite if a loss is NaN or infinite,
  /// or a gradient is not finite even with the smallest scale.
  llvm::Expected<StepReport> Step();
  /// Returns the metrics on `data` in inference mode: means over its rows.
  llvm::Expected<std::vector<Metric>> Evaluate(const Dataset& data);
  /// Runs all remaining steps, evaluates each epoch, and writes the files in options.folder. After
  /// an Error, the last good checkpoint is kept.
  llvm::Expected<TrainingEnd> Train(const TrainingCallbacks& callbacks = {});

  /// The number of steps done, of epochs done and evaluated, and of batches per epoch.
  int64_t step() const;
  int64_t epoch() const;
  int64_t batches() const;
  /// The number of batches done in the current epoch; 0 after a complete one.
  int64_t batches_done() const;
  /// Whether Train has nothing to do: no step, and nothing to measure.
  bool is_done() const;
  /// The number of elements of all parameters that steps change.
  int64_t num_trained() const;
  /// The names of the metrics: losses, then outputs with one element.
  llvm::ArrayRef<std::string> metrics() const;
  llvm::ArrayRef<std::string> losses() const;
  /// The current value of a parameter or state, on the CPU; not of a state that another rank keeps.
  llvm::Expected<Tensor> ValueOf(llvm::StringRef name) const;
  /// The value for inference: the moving average of a parameter if there is one, else ValueOf.
  llvm::Expected<Tensor> TrainedValueOf(llvm::StringRef name) const;
  /// Warnings of Resume: the network differs from the one of the checkpoint, or the best epoch is
  /// determined differently.
  llvm::ArrayRef<std::string> warnings() const;

 private:
  struct Impl;
  explicit Trainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The progress of a checkpoint's run, and how it made its batches.
struct CheckpointInfo {
  int64_t step = 0;
  int64_t epoch = 0;
  uint64_t seed = 0;
  int64_t batch_size = 0;
  /// 0 if steps were not computed from micro-batches.
  int64_t micro_batch = 0;
  bool shuffle = true;
  bool drop_last = false;
  DType precision = DType::kF32;
  double average = 0;
  /// The end of the run that wrote the checkpoint (TrainerOptions); 0: none, or not known.
  int64_t epochs = 0;
  int64_t steps = 0;
  int64_t patience = 0;
};
/// Returns an Error if the file is damaged or not a checkpoint.
PDL_API llvm::Expected<CheckpointInfo> ReadCheckpointInfo(llvm::StringRef path);
/// An Error of Code::kNotFinite if a parameter holds a nan or an infinity, or a state a nan, and
/// its initial value in `step`, the network of a step, has none. `variable` is as it was declared,
/// before the step made trained parameters states; `tensor` is its value after `steps` steps, on
/// the CPU. Infinite states are allowed, since it is unknown which states are learned.
PDL_API llvm::Error CheckLearned(const Network& step, const Value& variable, const Tensor& tensor,
                                 int64_t steps);
/// Whether a weights file is a checkpoint, which also has states of optimizers.
PDL_API bool IsCheckpoint(const SafetensorsFile& file);
/// The metadata of a file with the variables of a training that was saved without its progress,
/// as the Python package does.
inline constexpr llvm::StringLiteral kTrainingMetadata("pdl.training");

}  // namespace pdl

#endif  // PDL_TRAIN_TRAINER_H_
