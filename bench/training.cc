// The time of a training step. bench/peers/torch_training.py does the same in PyTorch.
#include "pdl/compiler/training.h"
#include "bench/networks.h"
#include "benchmark/benchmark.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl::bench {
namespace {

constexpr char kMlp[] = R"(
input x: f32[N, 784]
input label: i64[N] in 0..10
y = mlp(x, widths=[512, 256, 10])
loss = mean(cross_entropy(y, label))
minimize loss with adam(lr=0.001)
)";

constexpr char kLeNet[] = R"(
input x: f32[N, 1, 28, 28]
input label: i64[N] in 0..10
y = conv(x, channels=20, kernel=5, act=relu()) |> max_pool(kernel=2)
y = conv(y, channels=50, kernel=5, act=relu()) |> max_pool(kernel=2)
y = flatten(y) |> fc(size=500, act=relu()) |> fc(size=10)
loss = mean(cross_entropy(y, label))
minimize loss with sgd(lr=0.01, momentum=0.9)
)";

constexpr char kEncoder[] = R"(
input x: f32[N, 128, 256]
input t: f32[N, 128, 256]
y = transformer_encoder(x, layers=4, heads=4)
loss = mean((y - t) ** 2)
minimize loss with adam(lr=0.001)
)";

constexpr char kUnet[] = R"(
input x: f32[N, 3, 64, 64]
input t: f32[N, 1, 64, 64]
layer twice(x: F[N, C, H, W], channels: int > 0) {
  return x |> conv_bn(channels=channels, kernel=3) |> conv_bn(channels=channels, kernel=3)
}
widths = [16, 32, 64]
y = x
skips = []
for w in widths {
  y = twice(y, channels=w)
  skips = [skips..., y]
  y = max_pool(y, kernel=2, stride=2)
}
y = twice(y, channels=128)
for i in 0..len(widths) {
  k = len(widths) - 1 - i
  y = concat(skips[k], conv_up(y, channels=widths[k], kernel=2), axis=1)
  y = twice(y, channels=widths[k])
}
loss = mean(binary_cross_entropy(conv(y, channels=1, kernel=1), t, logits=true))
minimize loss with adam(lr=0.001)
)";

constexpr char kLstm[] = R"(
input x: f32[N, 64, 64]
input t: f32[N, 8]
y, last, cell = lstm(x, size=128)
loss = mean((fc(last, size=8) - t) ** 2)
minimize loss with adam(lr=0.001)
)";

std::string Table(const std::string& optimizer, int64_t rows) {
  return "input word: i64[N, 16] in 0.." + std::to_string(rows) +
         "\ninput t: f32[N]\ny = embedding(word, size=64) |> sum(axes=[1]) |> fc(size=1)\n"
         "loss = mean((y[:, 0] - t) ** 2)\nminimize loss with " +
         optimizer + "\n";
}

/// Deterministic pseudorandom integers in [0, bound).
Tensor Indices(llvm::ArrayRef<int64_t> sizes, int64_t bound) {
  const Tensor noise = Noise(sizes);
  auto indices = Tensor::Allocate(DType::kI64, sizes);
  for (int64_t i = 0; i < noise.num_elements(); ++i)
    indices->data<int64_t>()[i] =
        static_cast<int64_t>((noise.data<float>()[i] + 1) / 2.0 * static_cast<double>(bound));
  return *indices;
}

/// A step on `rows` examples. The argument of the benchmark is the number of threads.
void Train(benchmark::State& state, const std::string& text, int64_t rows, int64_t bound = 10) {
  auto step = MakeTrainingStep(CompileOrDie(text, /*training_step=*/true));
  if (!step) Die(llvm::toString(step.takeError()));
  auto network = Network::Create(std::move(*step), {}, GlobalRegistry());
  if (!network) Die(llvm::toString(network.takeError()));
  CPUContext context(static_cast<unsigned>(state.range(0)));
  Scope scope;
  for (const Value* input : (*network)->graph().inputs()) {
    Sizes sizes = {rows};
    for (const Dim& dim : llvm::ArrayRef(input->type().dims).drop_front())
      sizes.push_back(dim.constant());
    const bool is_index = !IsFloat(input->type().dtype);
    scope.Create(input->name())->Set(is_index ? Indices(sizes, bound) : Noise(sizes));
  }
  RunOptions run;
  run.training = true;
  // The first step makes the plan, and the second one allocates the tensors of all states.
  for (int i = 0; i < 2; ++i) RunOrDie(**network, &scope, &context, run);
  for (auto _ : state) RunOrDie(**network, &scope, &context, run);
  state.counters["rows"] =
      benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsIterationInvariantRate);
}

void Register(const std::string& name, std::string text, int64_t rows, int64_t bound = 10) {
  benchmark::RegisterBenchmark(("Train/" + name).c_str(),
                               [text = std::move(text), rows, bound](benchmark::State& state) {
                                 Train(state, text, rows, bound);
                               })
      ->ArgName("threads")
      ->Arg(1)
      ->Arg(2)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  Register("mlp", kMlp, 128);
  Register("lenet", kLeNet, 64);
  Register("encoder", kEncoder, 16);
  Register("unet", kUnet, 8);
  Register("lstm", kLstm, 32);
  for (const int64_t rows : {10'000, 100'000, 1'000'000}) {
    Register("adagrad/" + std::to_string(rows), Table("adagrad(lr=0.01)", rows), 512, rows);
    Register("lazy_adam/" + std::to_string(rows), Table("adam(lr=0.001, lazy=true)", rows), 512,
             rows);
  }
  Register("adam/1000000", Table("adam(lr=0.001)", 1'000'000), 512, 1'000'000);
  return true;
}();

}  // namespace
}  // namespace pdl::bench
