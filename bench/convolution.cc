// The 3x3 convolutions of ResNet-50, on one thread.
#include "bench/ceilings.h"
#include "bench/networks.h"
#include "benchmark/benchmark.h"

namespace pdl::bench {
namespace {

// Channels, and height and width.
void Conv3x3(benchmark::State& state) {
  const int64_t channels = state.range(0), size = state.range(1), batch = state.range(2);
  const std::string c = std::to_string(channels);
  const std::shared_ptr<const Network> network =
      MakeNetwork("input x: f32[N, " + c + ", H, H]\nparam w: f32[" + c + ", " + c +
                  ", 3, 3] = he_normal()\noutput y = conv2d(x, w, pad=1)\n");
  CPUContext context(1);
  Scope scope;
  scope.Create("x")->Set(Noise({batch, channels, size, size}));
  AgainstFmaPeak(state, 2.0 * 9 * static_cast<double>(batch * channels * channels * size * size),
                 [&] { RunOrDie(*network, &scope, &context); });
}
BENCHMARK(Conv3x3)
    ->ArgNames({"channels", "size", "batch"})
    ->Args({64, 56, 1})
    ->Args({128, 28, 1})
    ->Args({256, 14, 1})
    ->Args({512, 7, 1})
    ->Args({64, 56, 8})
    ->Args({128, 28, 8})
    ->Args({256, 14, 8})
    ->Args({512, 7, 8})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pdl::bench
