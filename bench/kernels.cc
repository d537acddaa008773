// Large calls on one thread, compared with the peak speeds of processor and memory.
#include <memory>
#include <string>
#include <utility>

#include "bench/ceilings.h"
#include "bench/networks.h"
#include "benchmark/benchmark.h"

namespace pdl::bench {
namespace {

constexpr int64_t kMany = int64_t{16} << 20;

/// A network with its inputs, for repeated runs.
class Runner {
 public:
  Runner(const std::string& text, std::initializer_list<std::pair<const char*, Sizes>> inputs,
         int threads = 1)
      : network_(MakeNetwork(text)), context_(threads) {
    uint32_t seed = 0;
    for (const auto& [name, sizes] : inputs) scope_.Create(name)->Set(Noise(sizes, ++seed));
  }
  void operator()() { RunOrDie(*network_, &scope_, &context_); }

 private:
  std::shared_ptr<const Network> network_;
  CPUContext context_;
  Scope scope_;
};

/// Compares a network on floats with a copy that reads and writes as many bytes.
void AgainstCopy(benchmark::State& state, const std::string& text,
                 std::initializer_list<std::pair<const char*, Sizes>> inputs) {
  Runner run(text, inputs);
  AgainstMemcpy(state, kMany * static_cast<int64_t>(sizeof(float)), [&] { run(); });
}

void CheapChain(benchmark::State& state) {
  AgainstCopy(state, "input x: f32[N]\noutput y = relu(abs(x * 2 + 1) - 0.5)\n", {{"x", {kMany}}});
}
BENCHMARK(CheapChain)
    ->Name("Chain/mul,add,abs,sub,relu/16M")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void DearChain(benchmark::State& state) {
  AgainstCopy(state, "input x: f32[N]\noutput y = sigmoid(tanh(exp(sin(cos(x)))))\n",
              {{"x", {kMany}}});
}
BENCHMARK(DearChain)
    ->Name("Chain/cos,sin,exp,tanh,sigmoid/16M")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void Matmul(benchmark::State& state) {
  const int64_t n = state.range(0);
  const std::string size = std::to_string(n);
  Runner run("input x: f32[N, " + size + "]\nparam w: f32[" + size + ", " + size +
                 "] = normal()\noutput y = x @ w\n",
             {{"x", {n, n}}});
  AgainstFmaPeak(state, 2.0 * static_cast<double>(n * n * n), [&] { run(); });
}
BENCHMARK(Matmul)->Arg(256)->Arg(1024)->Arg(2048)->UseManualTime()->Unit(benchmark::kMicrosecond);

/// Few rows times a constant matrix, compared with reading the matrix. Its rows are the results'
/// columns if it is transposed.
void FewRows(benchmark::State& state, bool transposed) {
  const int64_t rows = state.range(0), k = state.range(1), n = state.range(2);
  const int threads = static_cast<int>(state.range(3));
  const std::string inner = std::to_string(k), columns = std::to_string(n);
  Runner run("input x: f32[N, " + inner + "]\nparam w: f32[" +
                 (transposed ? columns + ", " + inner : inner + ", " + columns) +
                 "] = normal()\noutput y = " +
                 (transposed ? "matmul(x, w, transpose_b=true)\n" : "x @ w\n"),
             {{"x", {rows, k}}}, threads);
  AgainstRead(state, k * n * static_cast<int64_t>(sizeof(float)), threads > 1, [&] { run(); });
}
void FewRowsSizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "k", "n", "threads"})->UseManualTime()->Unit(benchmark::kMicrosecond);
  for (const int64_t rows : {1, 2, 4, 8, 16}) {
    b->Args({rows, 768, 3072, 1})->Args({rows, 4096, 4096, 1})->Args({rows, 768, 50257, 1});
  }
  b->Args({1, 768, 3072, 2})->Args({1, 4096, 4096, 2})->Args({1, 768, 50257, 2});
}
BENCHMARK_CAPTURE(FewRows, dense, false)->Name("matmul/few_rows")->Apply(FewRowsSizes);
BENCHMARK_CAPTURE(FewRows, turned, true)->Name("matmul/few_rows_turned")->Apply(FewRowsSizes);

/// 128 steps of 16 sequences. The flops are those of all matmuls.
void Lstm(benchmark::State& state) {
  constexpr int64_t kSteps = 128, kRows = 16, kSize = 256;
  const int64_t features = state.range(0);
  Runner run("input x: f32[N, T, " + std::to_string(features) + "]\noutput y = lstm(x, size=256)\n",
             {{"x", {kRows, kSteps, features}}});
  const int64_t products = kSteps * kRows * 4 * kSize * (features + kSize);
  AgainstFmaPeak(state, 2.0 * static_cast<double>(products), [&] { run(); });
}
BENCHMARK(Lstm)->Arg(128)->Arg(256)->UseManualTime()->Unit(benchmark::kMillisecond);

/// One call on 4096 x 4096 floats.
void Square(benchmark::State& state, const std::string& call) {
  AgainstCopy(state, "input x: f32[N, 4096]\noutput y = " + call + "\n", {{"x", {4096, 4096}}});
}
#define PDL_BENCH_SQUARE(name, call)    \
  BENCHMARK_CAPTURE(Square, name, call) \
      ->Name(#name "/4096x4096")        \
      ->UseManualTime()                 \
      ->Unit(benchmark::kMillisecond)
PDL_BENCH_SQUARE(softmax, "softmax(x)");
PDL_BENCH_SQUARE(gelu, "gelu(x)");
PDL_BENCH_SQUARE(gelu_tanh, "gelu(x, approximate=true)");
PDL_BENCH_SQUARE(layer_norm, "layer_norm(x, scale=false, bias=false)");
PDL_BENCH_SQUARE(affine_layer_norm, "layer_norm(x)");
PDL_BENCH_SQUARE(rms_norm, "rms_norm(x)");
PDL_BENCH_SQUARE(transpose, "transpose(x, [1, 0])");

void Add(benchmark::State& state) {
  AgainstCopy(state, "input x: f32[N]\ninput y: f32[N]\noutput z = x + y\n",
              {{"x", {kMany}}, {"y", {kMany}}});
}
BENCHMARK(Add)->Name("add/16M")->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pdl::bench
