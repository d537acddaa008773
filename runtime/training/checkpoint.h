#ifndef PDL_RUNTIME_TRAINING_CHECKPOINT_H_
#define PDL_RUNTIME_TRAINING_CHECKPOINT_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/io.h"
#include "runtime/training/fingerprint.h"

namespace pdl {

/// How far a training run has come: with the tensors, all that decides what it does next.
struct TrainingProgress {
  int64_t step = 0;
  /// Whole epochs done, and batches of the one that is being done.
  int64_t epoch = 0;
  int64_t batch = 0;
  /// Runs that drew random numbers.
  uint64_t runs = 0;
  // How batches are made.
  uint64_t seed = 0;
  int64_t rows = 0;
  int64_t batch_size = 0;
  bool shuffle = true;
  bool drop_last = false;
  /// Of the data, of those that epochs are measured by (none: these data), and of the weights that
  /// were given to begin with. Files of earlier versions do not tell.
  std::optional<Fingerprints> data, validation, weights;
  /// What products are computed in.
  DType precision = DType::kF32;
  /// Which metric says what is best ("right:max" where larger is better), its best value, and the
  /// epochs since.
  std::string watched;
  double best = std::numeric_limits<double>::infinity();
  int64_t stale = 0;
  /// Of each metric the sum over the rows of this epoch, and how many rows that were.
  std::vector<double> sums;
  std::vector<int64_t> summed_rows;

  friend bool operator==(const TrainingProgress&, const TrainingProgress&) = default;
};

/// One .safetensors file: parameters, states and the optimizers' states under their names, and the
/// rest as metadata.
struct Checkpoint {
  /// On the CPU.
  std::vector<NamedTensor> tensors;
  TrainingProgress progress;
  /// SHA-256 of the stored form of the network of a step.
  std::string network;
};

/// Written whole or not at all; on the disk when this returns.
llvm::Error WriteCheckpoint(llvm::StringRef path, const Checkpoint& checkpoint);
/// Tensors refer to the mapped file. An Error where the file is broken, or no checkpoint.
llvm::Expected<Checkpoint> ReadCheckpoint(llvm::StringRef path);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_CHECKPOINT_H_
