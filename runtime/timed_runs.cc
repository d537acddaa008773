#include "pdl/runtime/timed_runs.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

/// The maximum number of steps that are listed individually.
constexpr size_t kMostSteps = 40;

/// Returns "1.234 ms", with a suitable unit.
std::string TimeOf(double seconds) {
  if (seconds >= 1) return llvm::formatv("{0:f3} s", seconds);
  if (seconds >= 1e-3) return llvm::formatv("{0:f3} ms", seconds * 1e3);
  return llvm::formatv("{0:f3} us", seconds * 1e6);
}

void PrintRow(double seconds, double of_all, const std::string& what, llvm::raw_ostream& os) {
  const double share = of_all > 0 ? 100 * seconds / of_all : 0;
  os << llvm::formatv("{0,12} {1,7} %  {2}\n", TimeOf(seconds),
                      llvm::formatv("{0:f1}", share).str(), what);
}

}  // namespace

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

void TimedRuns::Print(llvm::raw_ostream& os) const {
  std::vector<const RunProfile::Step*> steps;
  double in_steps = 0;
  for (const RunProfile::Step& step : steps_.steps()) {
    steps.push_back(&step);
    in_steps += step.seconds;
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto* a, const auto* b) { return a->seconds > b->seconds; });
  const double count = static_cast<double>(runs_);
  os << llvm::formatv("{0} {1}, {2} each; by step:\n", runs_, runs_ == 1 ? "run" : "runs",
                      TimeOf(seconds_ / count));
  double rest = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const RunProfile::Step& step = *steps[i];
    if (i >= kMostSteps) {
      rest += step.seconds;
      continue;
    }
    std::string what = step.calls;
    if (!step.result.empty()) what += " -> " + step.result;
    if (!step.place.empty()) what += "  # " + step.place;
    PrintRow(step.seconds / count, seconds_ / count, what, os);
  }
  if (steps.size() > kMostSteps) {
    PrintRow(rest / count, seconds_ / count,
             llvm::formatv("{0} more steps", steps.size() - kMostSteps).str(), os);
  }
  PrintRow(std::max(0.0, seconds_ - in_steps) / count, seconds_ / count, "between the steps", os);
}

}  // namespace pdl
