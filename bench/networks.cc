#include "bench/networks.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl::bench {
namespace {

[[noreturn]] void Die(const std::string& message) {
  llvm::errs() << "pdl_bench: " << message << "\n";
  std::exit(1);
}

}  // namespace

std::string ChainOfAdds(int count) {
  std::string text = "input x: f32[N]\ny0 = x\n";
  for (int i = 0; i < count; ++i)
    text += llvm::formatv("y{0} = y{1} + {2}\n", i + 1, i, AddedBy(i)).str();
  return text + llvm::formatv("output y = y{0}\n", count).str();
}

std::string ChainOfCosines(int count) {
  std::string text = "input y0: f32[N]\n";
  for (int i = 1; i <= count; ++i)
    text += llvm::formatv("y{0} = cos(y{1}, scale=5.0)\n", i, i - 1).str();
  return text + llvm::formatv("output y{0}\n", count).str();
}

Graph CompileOrDie(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("bench.pdl", text);
  request.registry = &GlobalRegistry();
  CompileResult result = Compile(request);
  result.diagnostics.Render(llvm::errs());
  if (!result.graph) Die("the text does not compile");
  return std::move(*result.graph);
}

std::shared_ptr<const Network> MakeNetwork(const std::string& text, bool fuse) {
  NetworkOptions options;
  options.fuse = fuse;
  auto network = Network::Create(CompileOrDie(text), std::move(options), GlobalRegistry());
  if (!network) Die(llvm::toString(network.takeError()));
  return *network;
}

void RunOrDie(const Network& network, Scope* scope, DeviceContext* context) {
  if (llvm::Error error = network.Run(scope, context)) Die(llvm::toString(std::move(error)));
}

Tensor Noise(llvm::ArrayRef<int64_t> sizes, uint32_t seed) {
  auto tensor = Tensor::Allocate(DType::kF32, sizes);
  if (!tensor) Die(llvm::toString(tensor.takeError()));
  uint32_t x = seed * 2654435761u + 1;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    x = x * 1664525u + 1013904223u;
    tensor->data<float>()[i] = static_cast<float>(static_cast<int32_t>(x) >> 8) * 0x1p-23f;
  }
  return *tensor;
}

double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace pdl::bench
