#ifndef PDL_TRAIN_BEST_EPOCH_H_
#define PDL_TRAIN_BEST_EPOCH_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// The metric that selects the best epoch of a training run.
struct PDL_API Monitor {
  /// Empty if the network has no metric.
  std::string name;
  bool larger_is_better = false;

  /// Parses "NAME", "NAME:min" or "NAME:max", as `--monitor` takes it, where NAME is one of
  /// `metrics`, the losses and then the other metrics of a network. An empty `text` is the first of
  /// them, with smaller values better. Fails with kUnknownName if there is no such metric.
  static llvm::Expected<Monitor> Parse(llvm::StringRef text, llvm::ArrayRef<std::string> metrics);

  /// "right:max", or "loss" if smaller values are better.
  std::string ToString() const { return name + (larger_is_better ? ":max" : ""); }
};

/// The best value of the monitored metric in the epochs so far.
struct PDL_API BestEpoch {
  explicit BestEpoch(bool larger_is_better = false)
      : best(larger_is_better ? -std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::infinity()) {}

  /// Ends an epoch with this value of the metric; nullopt if no step computed it. Returns whether
  /// it is better than all before it. NaN never is.
  bool Update(std::optional<double> value, bool larger_is_better);
  /// Whether `patience` epochs brought no improvement; false for 0, no limit.
  bool IsStale(int64_t patience) const { return patience > 0 && stale >= patience; }

  double best;
  /// Epochs since the best one.
  int64_t stale = 0;

  friend bool operator==(const BestEpoch&, const BestEpoch&) = default;
};

}  // namespace pdl

#endif  // PDL_TRAIN_BEST_EPOCH_H_
