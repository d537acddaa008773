#ifndef PDL_TOOLS_PDL_SUPPORT_MEASURED_RUNS_H_
#define PDL_TOOLS_PDL_SUPPORT_MEASURED_RUNS_H_

#include <cstdint>
#include <optional>

#include "llvm/Support/Error.h"
#include "pdl/runtime/profile_report.h"
#include "tools/pdl/support/first_run.h"

namespace pdl {

/// The largest number of runs that are measured.
inline constexpr int64_t kMostMeasuredRuns = 1'000'000;

/// Parses the number of runs of an option.
llvm::Error ParseRuns(llvm::StringRef text, int64_t* runs);

/// Repeats a run `runs` times on the same inputs, or for about a second if that is 0.
llvm::Expected<TimedRuns> MeasureRuns(FirstRun& first, const RunOptions& options, int64_t runs);

/// Measures the peak of a device; nullopt if it is not the CPU.
std::optional<DevicePeak> PeakOf(DeviceContext& context);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_MEASURED_RUNS_H_
