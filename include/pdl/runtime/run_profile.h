#ifndef PDL_RUNTIME_RUN_PROFILE_H_
#define PDL_RUNTIME_RUN_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// How long the steps of runs take (RunOptions::profile): a step is a call, or a group of calls
/// that run as one. Not for two runs at the same time.
class PDL_API RunProfile {
 public:
  struct Step {
    /// The operators of its calls, as `pdl dump --emit=plan` names them: "conv2d, add, relu".
    std::string calls;
    /// What it gives, with sizes: "y: f32[8, 64]".
    std::string result;
    /// Where its first call was written: "model.pdl:3:5", or empty.
    std::string place;
    /// Of all its runs together, by the clock.
    double seconds = 0;
    int64_t runs = 0;
  };

  /// In the order in which they first ran.
  llvm::ArrayRef<Step> steps() const { return steps_; }
  /// Counts one run of a step; steps are told apart by their result.
  void Add(Step step, double seconds);

 private:
  std::vector<Step> steps_;
  llvm::StringMap<size_t> by_result_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_RUN_PROFILE_H_
