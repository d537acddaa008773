#include "tools/pdl/support/measured_runs.h"

#include <chrono>

namespace pdl {

llvm::Error ParseRuns(llvm::StringRef text, int64_t* runs) {
  if (!text.getAsInteger(10, *runs) && *runs >= 1 && *runs <= kMostMeasuredRuns)
    return llvm::Error::success();
  return MakeUsageError("expected an integer from 1 to {0}, got '{1}'", kMostMeasuredRuns, text);
}

llvm::Expected<TimedRuns> MeasureRuns(FirstRun& first, const RunOptions& options, int64_t runs) {
  using Clock = std::chrono::steady_clock;
  TimedRuns timed;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(1);
  const auto is_enough = [&] {
    if (runs > 0) return timed.runs() == runs;
    return timed.runs() == kMostMeasuredRuns || (timed.runs() >= 3 && Clock::now() > end);
  };
  while (!is_enough())
    if (llvm::Error error = timed.Run(*first.network, &first.scope, first.context.get(), options))
      return error;
  return timed;
}

std::optional<DevicePeak> PeakOf(DeviceContext& context) {
  if (context.device().kind != DeviceKind::kCPU || !context.is_native()) return std::nullopt;
  return MeasurePeak(static_cast<CPUContext&>(context));
}

}  // namespace pdl
