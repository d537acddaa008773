#ifndef PDL_TOOLS_PDL_TRAIN_CONSOLE_H_
#define PDL_TOOLS_PDL_TRAIN_CONSOLE_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "pdl/train/trainer.h"

namespace pdl {

/// Tells on standard error how a training run goes: a line for each epoch, and between them, on a
/// terminal a bar that is drawn anew, elsewhere a line now and then.
class TrainConsole {
 public:
  struct Options {
    /// Limits of the run; 0: none.
    int64_t epochs = 0;
    int64_t steps = 0;
    int64_t batches = 0;
    /// Done before this run began, by the one that it resumes.
    int64_t first_step = 0;
    bool is_terminal = false;
    /// Nothing but the epochs, and what each gave.
    bool is_quiet = false;
  };
  explicit TrainConsole(Options options);
  ~TrainConsole() { Erase(); }

  void ShowStep(const StepReport& report);
  void ShowEpoch(const EpochReport& report);
  /// Rows a second in this epoch.
  double RowsPerSecond() const;
  /// Takes the bar away.
  void Erase();

 private:
  using Clock = std::chrono::steady_clock;
  /// "12,345 rows/s".
  std::string Speed() const;
  std::string TimeLeft(int64_t step) const;

  const Options options_;
  const Clock::time_point begin_;
  Clock::time_point epoch_begin_, last_shown_;
  int64_t epoch_rows_ = 0;
  bool has_bar_ = false;
};

/// "0:07", "12:30", "3:02:11".
std::string DurationToString(double seconds);
/// "loss 0.3421, accuracy 0.91".
std::string MetricsToString(llvm::ArrayRef<Metric> metrics);
/// "12,345".
std::string GroupedToString(int64_t number);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TRAIN_CONSOLE_H_
