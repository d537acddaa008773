#ifndef PDL_TOOLS_PDL_TRAIN_CONSOLE_H_
#define PDL_TOOLS_PDL_TRAIN_CONSOLE_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "pdl/train/trainer.h"

namespace pdl {

/// Reports the progress of a training run on standard error: a line for each epoch, and in between
/// a bar that is redrawn on a terminal, or an occasional line elsewhere.
class TrainConsole {
 public:
  struct Options {
    /// Limits of the run; 0: none.
    int64_t epochs = 0;
    int64_t steps = 0;
    int64_t batches = 0;
    /// The step from which this run resumes.
    int64_t first_step = 0;
    bool is_terminal = false;
    /// Print only the results of each epoch.
    bool is_quiet = false;
    /// Print nothing.
    bool is_silent = false;
  };
  explicit TrainConsole(Options options);
  ~TrainConsole() { Erase(); }

  void ShowStep(const StepReport& report);
  void ShowEpoch(const EpochReport& report);
  /// Rows per second in this epoch.
  double RowsPerSecond() const;
  /// The steps of this run that only changed the scale of the losses.
  int64_t num_skipped() const { return num_skipped_; }
  /// Erases the bar.
  void Erase();

 private:
  using Clock = std::chrono::steady_clock;
  /// For example "12,345 rows/s".
  std::string Speed() const;
  std::string TimeLeft(int64_t step) const;

  const Options options_;
  const Clock::time_point begin_;
  /// The end is that of its last step so far, without the time for writing files.
  Clock::time_point epoch_begin_, epoch_end_, last_shown_;
  int64_t epoch_rows_ = 0, epoch_steps_ = 0, epoch_skipped_ = 0, num_skipped_ = 0;
  bool has_bar_ = false;
};

/// For example "0:07", "12:30", "3:02:11".
std::string DurationToString(double seconds);
/// For example "loss 0.3421, accuracy 0.91".
std::string MetricsToString(llvm::ArrayRef<Metric> metrics);
/// For example "12,345".
std::string GroupedToString(int64_t number);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TRAIN_CONSOLE_H_
