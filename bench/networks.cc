#include "bench/networks.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <vector>

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/runtime/io.h"

namespace pdl::bench {

void Die(const std::string& message) {
  llvm::errs() << "pdl_bench: " << message << "\n";
  std::exit(1);
}

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

std::string Transformer(int blocks) {
  return R"(
input ids: i64[N, T] in 0..1000
layer attend(x: F[N, T, D], heads: int > 0) where D % heads == 0 {
  q = fc(x, size=D) |> reshape([N, T, heads, D // heads]) |> transpose([0, 2, 1, 3])
  k = fc(x, size=D) |> reshape([N, T, heads, D // heads]) |> transpose([0, 2, 3, 1])
  v = fc(x, size=D) |> reshape([N, T, heads, D // heads]) |> transpose([0, 2, 1, 3])
  y = softmax((q @ k) / 8.0) @ v
  return y |> transpose([0, 2, 1, 3]) |> reshape([N, T, D]) |> fc(size=D)
}
layer block(x: F[N, T, D], heads: int > 0) {
  x = x + (x |> layer_norm() |> attend(heads=heads))
  return x + (x |> layer_norm() |> mlp(widths=[4 * D, D], act=gelu()) |> dropout(p=0.1))
}
x = embedding(ids, size=256)
for i in 0..)" +
         std::to_string(blocks) + R"( { x = block(x, heads=4) }
output y = layer_norm(x) |> fc(size=1000)
)";
}

Graph CompileOrDie(const std::string& text, bool training_step) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("bench.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.training_step = training_step;
  CompileResult result = Compile(request);
  result.diagnostics.Render(llvm::errs());
  if (!result.graph) Die("the source does not compile");
  return std::move(*result.graph);
}

std::shared_ptr<const Network> MakeNetwork(const std::string& text, bool fuse) {
  NetworkOptions options;
  options.fuse = fuse;
  auto network = Network::Create(CompileOrDie(text), std::move(options), GlobalRegistry());
  if (!network) Die(llvm::toString(network.takeError()));
  return *network;
}

void RunOrDie(const Network& network, Scope* scope, DeviceContext* context, const RunOptions& run) {
  if (llvm::Error error = network.Run(scope, context, run)) Die(llvm::toString(std::move(error)));
}

const std::string& NetworkFile() {
  static const struct File {
    File() {
      if (const char* given = std::getenv(kFileVariable)) {
        path = given;
        return;
      }
      std::string name = (std::filesystem::temp_directory_path() / "pdl-bench-XXXXXX").string();
      folder = mkdtemp(name.data());
      path = folder + "/chain.pdlc";
      std::string bytes =
          llvm::cantFail(SerializeNetwork(CompileOrDie(ChainOfCosines(kFileCalls))));
      llvm::cantFail(WriteFileAtomically(path, bytes));
    }
    ~File() {
      if (!folder.empty()) std::filesystem::remove_all(folder);
    }
    std::string folder, path;
  } file;
  return file.path;
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
