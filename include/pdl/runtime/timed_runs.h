#ifndef PDL_RUNTIME_TIMED_RUNS_H_
#define PDL_RUNTIME_TIMED_RUNS_H_

#include <cstdint>

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/run_profile.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// Where the time of runs goes, of one network with the same inputs. For numbers of runs that are
/// planned already, and have their states, the Scope is one that it has run in before.
class PDL_API TimedRuns {
 public:
  /// Runs the network twice: with a clock around the whole, and then with one around each step,
  /// which takes time itself. States go on from run to run. `options.profile` and
  /// `options.check_finite`, which looks at another plan, are not used.
  llvm::Error Run(const Network& network, Scope* scope, DeviceContext* context, RunOptions options);

  /// How many there were with each of the two.
  int64_t runs() const { return runs_; }
  /// Of all runs without clocks inside, together.
  double seconds() const { return seconds_; }
  /// What those with clocks inside took, by step.
  const RunProfile& steps() const { return steps_; }

  /// Prints how long a run took on average, and its steps, the longest first: time, share of the
  /// run, operators, result, place.
  void Print(llvm::raw_ostream& os) const;

 private:
  RunProfile steps_;
  int64_t runs_ = 0;
  double seconds_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_TIMED_RUNS_H_
