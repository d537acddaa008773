#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/core/cpu_isa.h"
#include "kernels/core/peak_loops.h"
#include "pdl/runtime/profile_report.h"

namespace pdl {
namespace {

/// The size of a buffer that no cache holds, and the operations of a measurement, for each thread.
constexpr int64_t kMemoryBytes = int64_t{64} << 20;
constexpr double kOperations = 4e8;
constexpr int kRepetitions = 5;

/// The shortest duration of work(thread) on all threads, in seconds.
double Shortest(CPUContext& context, llvm::function_ref<void(int64_t)> work) {
  using Clock = std::chrono::steady_clock;
  double shortest = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const Clock::time_point begin = Clock::now();
    context.ParallelFor(context.threads(), 1, [&](int64_t first, int64_t last) {
      for (int64_t thread = first; thread < last; ++thread) work(thread);
    });
    shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return std::max(shortest, 1e-9);
}

/// Bytes per second that all threads read together, each `times` times its own `bytes`.
double ReadSpeed(CPUContext& context, const std::vector<float>& data, int64_t bytes, int times) {
  const auto floats = bytes / static_cast<int64_t>(sizeof(float));
  const auto stride = static_cast<int64_t>(data.size()) / context.threads();
  const double seconds = Shortest(context, [&](int64_t thread) {
    volatile float sum = 0;
    for (int i = 0; i < times; ++i) sum = sum + ReadFloats(data.data() + thread * stride, floats);
  });
  return static_cast<double>(bytes) * times * context.threads() / seconds;
}

}  // namespace

DevicePeak MeasurePeak(CPUContext& context) {
  DevicePeak peak;
  peak.threads = context.threads();
  const auto speed = [&](double (*run)(double)) {
    return kOperations * context.threads() / Shortest(context, [&](int64_t) { run(kOperations); });
  };
  peak.operations = speed(RunMultiplyAdds);
  if (HasFastBf16Products()) peak.bf16_operations = speed(RunBf16MultiplyAdds);
  const int64_t total = std::max(kMemoryBytes, kMemoryBytes / 4 * context.threads());
  const std::vector<float> data(static_cast<size_t>(total) / sizeof(float), 1.0f);
  peak.memory_bytes = ReadSpeed(context, data, total / context.threads(), 1);
  const int64_t l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const int64_t cache = l2 > 0 ? l2 : int64_t{256} << 10;
  peak.cache_size = cache * context.threads();
  peak.cache_bytes = std::max(peak.memory_bytes, ReadSpeed(context, data, cache / 2, 50));
  return peak;
}

}  // namespace pdl
