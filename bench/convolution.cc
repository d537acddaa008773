// Convolutions on one thread, compared with the peak of fused multiply-adds.
#include "bench/ceilings.h"
#include "bench/networks.h"
#include "benchmark/benchmark.h"

namespace pdl::bench {
namespace {

// The 3x3 convolutions of ResNet-50: channels, and height and width.
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

// Two convolutions with a bias and an activation each, whose input and result have channels last,
// as in the middle of a network.
void ConvLast(benchmark::State& state) {
  const int64_t channels = state.range(0), size = state.range(1), kernel = state.range(2),
                groups = state.range(3);
  const std::string c = std::to_string(channels), k = std::to_string(kernel),
                    more = ", pad=\"same\", groups=" + std::to_string(groups) + "))\n";
  std::string text = "input x: f32[N, H, H, " + c + "]\ny0 = transpose(x, perm=[0, 3, 1, 2])\n";
  for (const char* i : {"1", "2"}) {
    text += std::string("param w") + i + ": f32[" + c + ", " + std::to_string(channels / groups) +
            ", " + k + ", " + k + "] = he_normal()\nparam b" + i + ": f32[" + c +
            "] = normal(std=0.1)\n";
  }
  text += "y1 = relu(conv2d(y0, w1, b1" + more + "y2 = relu(conv2d(y1, w2, b2" + more +
          "output y = transpose(y2, perm=[0, 2, 3, 1])\n";
  const std::shared_ptr<const Network> network = MakeNetwork(text);
  CPUContext context(1);
  Scope scope;
  scope.Create("x")->Set(Noise({1, size, size, channels}));
  const int64_t products = channels * channels / groups * kernel * kernel * size * size;
  AgainstFmaPeak(state, 4.0 * static_cast<double>(products),
                 [&] { RunOrDie(*network, &scope, &context); });
}
BENCHMARK(ConvLast)
    ->ArgNames({"channels", "size", "kernel", "groups"})
    ->Args({64, 56, 3, 1})
    ->Args({128, 28, 3, 1})
    ->Args({256, 14, 3, 1})
    ->Args({512, 7, 3, 1})
    ->Args({48, 56, 5, 1})
    ->Args({32, 56, 7, 1})
    ->Args({128, 56, 3, 32})
    ->Args({256, 28, 3, 32})
    ->Args({512, 14, 3, 32})
    ->Args({1024, 7, 3, 32})
    ->Args({144, 56, 3, 144})
    ->Args({576, 14, 3, 576})
    ->Args({240, 28, 5, 240})
    ->Args({672, 14, 5, 672})
    ->Args({960, 7, 5, 960})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pdl::bench
