#ifndef PDL_TOOLS_PDL_TRAIN_RANKS_LOG_H_
#define PDL_TOOLS_PDL_TRAIN_RANKS_LOG_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/train/trainer.h"
#include "tools/pdl/train/json_lines.h"

namespace pdl {

/// The log of one rank of a distributed run, the file `rank-N.jsonl`. A later run continues it.
/// Each line is in the file as soon as its event has happened, so the log of a rank that was killed
/// ends with its last complete step. After a failure to write, nothing more is written.
class RanksLog {
 public:
  /// Creates the folder if necessary, and writes a line about the process.
  static llvm::Expected<RanksLog> Open(llvm::StringRef folder, int rank, int ranks, int threads);
  /// Writes the metrics of the step and, if there are several ranks, the times of this one:
  /// RankTimes::own and `waited`.
  llvm::Error AddStep(const StepReport& report);
  /// Writes the messages of the Error that ends the run.
  llvm::Error AddEnd(const llvm::Error& end);

 private:
  explicit RanksLog(JsonLines lines) : lines_(std::move(lines)) {}
  llvm::Error Write(llvm::json::Object line);

  JsonLines lines_;
  bool has_failed_ = false;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TRAIN_RANKS_LOG_H_
