#ifndef PDL_RUNTIME_TIMED_RUNS_H_
#define PDL_RUNTIME_TIMED_RUNS_H_

#include <cstdint>

#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/run_profile.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// Measures where the time of a network's runs is spent, for the same inputs. To exclude planning
/// and the creation of states, use a Scope that the network has run in before.
class PDL_API TimedRuns {
 public:
  /// Runs the network twice: once measuring the complete run, and once measuring each step, which
  /// has some overhead. States are carried over from run to run. `options.profile` and
  /// `options.check_finite`, which requires a different plan, are ignored.
  llvm::Error Run(const Network& network, Scope* scope, DeviceContext* context, RunOptions options);

  /// The number of runs of each of the two kinds.
  int64_t runs() const { return runs_; }
  /// Total time of the complete runs, without per-step measurement, in seconds.
  double seconds() const { return seconds_; }
  /// The times per step.
  const RunProfile& steps() const { return steps_; }

 private:
  RunProfile steps_;
  int64_t runs_ = 0;
  double seconds_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_TIMED_RUNS_H_
