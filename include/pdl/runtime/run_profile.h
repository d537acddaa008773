#ifndef PDL_RUNTIME_RUN_PROFILE_H_
#define PDL_RUNTIME_RUN_PROFILE_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/call_description.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// The time of each step of runs (RunOptions::profile). A step is a call, or a fused group of
/// calls. Not thread-safe.
class PDL_API RunProfile {
 public:
  struct Step : CallDescription {
    /// Total wall time of all its runs.
    double seconds = 0;
    int64_t runs = 0;
  };

  /// In the order of their first run.
  llvm::ArrayRef<Step> steps() const { return steps_; }
  /// Adds one run of a step. Steps are identified by their result.
  void Add(const CallDescription& step, double seconds);

 private:
  std::vector<Step> steps_;
  llvm::StringMap<size_t> by_result_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_RUN_PROFILE_H_
