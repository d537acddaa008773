#ifndef PDL_TOOLS_PDL_TRAIN_LOG_H_
#define PDL_TOOLS_PDL_TRAIN_LOG_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "pdl/train/event_file.h"
#include "pdl/train/trainer.h"
#include "tools/pdl/train/json_lines.h"
#include "tools/pdl/train/loss_curve.h"

namespace pdl {

/// Writes the files of a training run other than checkpoints: `metrics.jsonl`, with a line for each
/// logged step and each epoch, event files for TensorBoard, and the plot `loss.svg`.
class TrainLog {
 public:
  struct Options {
    std::string folder;
    /// The title of the plot.
    std::string title;
    /// The metrics that are losses, which are plotted.
    std::vector<std::string> losses;
    /// Log every so many steps; 0: about 200 steps for each power of ten.
    int64_t every = 0;
  };
  /// Continues after `step` and `epoch`: records of later ones are dropped.
  static llvm::Expected<std::unique_ptr<TrainLog>> Open(Options options, int64_t step,
                                                        int64_t epoch);
  /// The files of runs in the folder, including checkpoints. Fails if it cannot be read.
  static llvm::Expected<std::vector<std::string>> FilesIn(llvm::StringRef folder);
  /// Removes them.
  static llvm::Error Clear(llvm::StringRef folder);
  /// Removes files that a killed run wrote only partially.
  static llvm::Error RemoveTemporaries(llvm::StringRef folder);

  llvm::Error AddStep(const StepReport& report);
  llvm::Error AddEpoch(const EpochReport& report, double rows_per_second);
  /// Writes the plot of the current curves.
  llvm::Error WriteCurves() const;
  /// Writes the plot and closes the files; must be the last call.
  llvm::Error Finish();

 private:
  explicit TrainLog(Options options) : options_(std::move(options)) {}
  llvm::Error ReadLines(int64_t step, int64_t epoch);
  llvm::Error WriteLine(const llvm::json::Value& line);
  bool IsLogged(int64_t step) const;
  /// Adds the points of a record to the curves.
  void Draw(const llvm::json::Object& line);

  Options options_;
  std::optional<JsonLines> lines_;
  std::optional<EventFile> events_;
  /// The curves of the losses: on the training data and on the validation data.
  std::vector<Curve> training_, validation_;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TRAIN_LOG_H_
