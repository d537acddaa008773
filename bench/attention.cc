// Attention of four heads on one thread, compared with the peak of fused multiply-adds.
#include <string>

#include "bench/ceilings.h"
#include "bench/networks.h"
#include "benchmark/benchmark.h"

namespace pdl::bench {
namespace {

enum class Kind { kPlain, kCausal, kKeyMask, kBoolMask, kAddedMask };

Tensor BoolNoise(llvm::ArrayRef<int64_t> sizes) {
  const Tensor noise = Noise(sizes, 7);
  auto tensor = Tensor::Allocate(DType::kBool, sizes);
  if (!tensor) Die(llvm::toString(tensor.takeError()));
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    tensor->data<bool>()[i] = noise.data<float>()[i] > -0.5f;
  }
  return *tensor;
}

// The flops of a causal call are those of the scores that are not masked, for as many keys as
// queries.
void Attention(benchmark::State& state, Kind kind) {
  constexpr int64_t kHeads = 4;
  const int64_t rows = state.range(0), columns = state.range(1), size = state.range(2);
  const std::string d = std::to_string(size);
  std::string text = "input q: f32[1, 4, T, " + d + "]\ninput k: f32[1, 4, S, " + d +
                     "]\ninput v: f32[1, 4, S, " + d + "]\n";
  Scope scope;
  if (kind == Kind::kKeyMask) {
    text += "input m: bool[S]\n";
    scope.Create("m")->Set(BoolNoise({columns}));
  } else if (kind == Kind::kBoolMask) {
    text += "input m: bool[T, S]\n";
    scope.Create("m")->Set(BoolNoise({rows, columns}));
  } else if (kind == Kind::kAddedMask) {
    text += "input m: f32[T, S]\n";
    scope.Create("m")->Set(Noise({rows, columns}, 7));
  }
  text += kind == Kind::kPlain    ? "output y = attention(q, k, v)\n"
          : kind == Kind::kCausal ? "output y = attention(q, k, v, causal=true)\n"
                                  : "output y = attention(q, k, v, mask=m)\n";
  scope.Create("q")->Set(Noise({1, kHeads, rows, size}, 1));
  scope.Create("k")->Set(Noise({1, kHeads, columns, size}, 2));
  scope.Create("v")->Set(Noise({1, kHeads, columns, size}, 3));
  const std::shared_ptr<const Network> network = MakeNetwork(text);
  CPUContext context(1);
  const int64_t scores = kind == Kind::kCausal ? rows * (rows + 1) / 2 : rows * columns;
  AgainstFmaPeak(state, 4.0 * static_cast<double>(kHeads * scores * size),
                 [&] { RunOrDie(*network, &scope, &context); });
}

void Lengths(benchmark::internal::Benchmark* b) {
  b->ArgNames({"queries", "keys", "size"})->UseManualTime()->Unit(benchmark::kMicrosecond);
  for (const int64_t length : {512, 1500}) b->Args({length, length, 64});
}

void AllSizes(benchmark::internal::Benchmark* b) {
  for (const int64_t length : {1, 16, 49, 128}) b->Args({length, length, 64});
  Lengths(b);
  for (const int64_t size : {32, 48, 80, 128}) b->Args({1024, 1024, size});
  b->Args({3136, 49, 64})->Args({3136, 49, 32})->Args({49, 49, 32})->Args({1, 4096, 64});
}
BENCHMARK_CAPTURE(Attention, plain, Kind::kPlain)->Name("attention")->Apply(AllSizes);
BENCHMARK_CAPTURE(Attention, causal, Kind::kCausal)->Name("attention/causal")->Apply(Lengths);
BENCHMARK_CAPTURE(Attention, keys, Kind::kKeyMask)->Name("attention/key_mask")->Apply(Lengths);
BENCHMARK_CAPTURE(Attention, bools, Kind::kBoolMask)->Name("attention/bool_mask")->Apply(Lengths);
BENCHMARK_CAPTURE(Attention, added, Kind::kAddedMask)->Name("attention/added_mask")->Apply(Lengths);

}  // namespace
}  // namespace pdl::bench
