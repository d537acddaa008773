#ifndef PDL_RUNTIME_TRAINING_CHECKPOINT_H_
#define PDL_RUNTIME_TRAINING_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/io.h"
#include "pdl/train/best_epoch.h"
#include "runtime/training/fingerprint.h"

namespace pdl {

/// The progress of a training run: together with the tensors, it determines all later steps.
struct TrainingProgress {
  int64_t step = 0;
  /// Complete epochs, and batches of the current one.
  int64_t epoch = 0;
  int64_t batch = 0;
  /// The number of runs that used random numbers.
  uint64_t runs = 0;
  // The options that determine the batches.
  uint64_t seed = 0;
  int64_t rows = 0;
  int64_t batch_size = 0;
  /// Rows of a micro-batch; 0: steps are not computed from micro-batches.
  int64_t micro_batch = 0;
  bool shuffle = true;
  bool drop_last = false;
  /// Hashes of the data, of the validation data (none: the training data), and of the given initial
  /// weights. Files of earlier versions lack them.
  std::optional<Fingerprints> data, validation, weights;
  /// The precision of matmuls.
  DType precision = DType::kF32;
  /// The decay of the moving averages; 0: none.
  double average = 0;
  /// The end of the run, which a resumed one may have elsewhere: TrainerOptions::epochs, steps and
  /// patience. Files of earlier versions lack them.
  int64_t last_epoch = 0;
  int64_t last_step = 0;
  int64_t patience = 0;
  /// The metric that selects the best epoch (Monitor::ToString), and its best value.
  std::string watched;
  BestEpoch best;
  /// The number of batches of this epoch after which they were measured, since a run ended there; 0
  /// if they were not, and after more of them.
  int64_t measured_batch = 0;
  /// The best value of such a part of an epoch, if there is no complete one.
  std::optional<double> best_part;
  /// For each metric the sum over the rows of this epoch, and the number of these rows.
  std::vector<double> sums;
  std::vector<int64_t> summed_rows;

  friend bool operator==(const TrainingProgress&, const TrainingProgress&) = default;
};

std::string ProgressToJson(const TrainingProgress& progress);
/// Returns nullopt if the string is not from ProgressToJson.
std::optional<TrainingProgress> ProgressFromJson(llvm::StringRef text);

/// The version of the format of checkpoints. A change that earlier readers would misunderstand
/// increases it; files of all versions up to this one can be read.
inline constexpr int kCheckpointVersion = 1;

/// A .safetensors file with parameters, states and optimizer states under their names, and the rest
/// as metadata.
struct Checkpoint {
  /// On the CPU.
  std::vector<NamedTensor> tensors;
  TrainingProgress progress;
  /// The SHA-256 of the serialized network of a step.
  std::string network;
};

/// Writes the file atomically; when it returns, the file is on disk.
llvm::Error WriteCheckpoint(llvm::StringRef path, const Checkpoint& checkpoint);
/// The tensors refer to the mapped file. Fails if the file is invalid, not a checkpoint, or of a
/// later version.
llvm::Expected<Checkpoint> ReadCheckpoint(llvm::StringRef path);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_CHECKPOINT_H_
