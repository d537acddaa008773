#include "pdl/runtime/timed_runs.h"

#include <chrono>

namespace pdl {
llvm::Error TimedRuns::Run(const Network& network, Scope* scope, DeviceContext* context,
                           RunOptions options) {
  using Clock = std::chrono::steady_clock;
  options.check_finite = false;
  options.profile = nullptr;
  const Clock::time_point start = Clock::now();
  if (llvm::Error error = network.Run(scope, context, options)) return error;
  const Clock::duration whole = Clock::now() - start;
  options.profile = &steps_;
  if (llvm::Error error = network.Run(scope, context, options)) return error;
  seconds_ += std::chrono::duration<double>(whole).count();
  ++runs_;
  return llvm::Error::success();
}

}  // namespace pdl
