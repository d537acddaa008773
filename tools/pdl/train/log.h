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
#include "llvm/Support/raw_ostream.h"
#include "pdl/train/event_file.h"
#include "pdl/train/trainer.h"
#include "tools/pdl/train/loss_curve.h"

namespace pdl {

/// What a training run leaves in its folder besides checkpoints: `metrics.jsonl`, a line for a step
/// or an epoch, event files for TensorBoard, and the picture `loss.svg`.
class TrainLog {
 public:
  struct Options {
    std::string folder;
    /// Over the picture.
    std::string title;
    /// Which metrics are losses: these are drawn.
    std::vector<std::string> losses;
    /// Every so many steps are written down; 0: about 200 of every power of ten.
    int64_t every = 0;
  };
  /// Goes on where `step` and `epoch` are done: what is there of later ones is dropped.
  static llvm::Expected<std::unique_ptr<TrainLog>> Open(Options options, int64_t step,
                                                        int64_t epoch);
  /// Removes what an earlier run left in the folder, checkpoints too.
  static llvm::Error Clear(llvm::StringRef folder);
  /// Removes what a run that was killed had half written.
  static llvm::Error RemoveTemporaries(llvm::StringRef folder);

  llvm::Error AddStep(const StepReport& report);
  llvm::Error AddEpoch(const EpochReport& report, double rows_per_second);
  /// Draws the curves as they are now.
  llvm::Error WriteCurves() const;

 private:
  explicit TrainLog(Options options) : options_(std::move(options)) {}
  llvm::Error ReadLines(int64_t step, int64_t epoch);
  llvm::Error WriteLine(const llvm::json::Value& line);
  bool IsLogged(int64_t step) const;
  /// Adds the points of a line to the curves.
  void Draw(const llvm::json::Object& line);

  Options options_;
  std::unique_ptr<llvm::raw_fd_ostream> lines_;
  std::optional<EventFile> events_;
  /// Of the losses: in training, and of the validation data.
  std::vector<Curve> training_, validation_;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TRAIN_LOG_H_
