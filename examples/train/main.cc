// Trains a network on points that the program makes itself, and uses what was learned.
#include <memory>
#include <random>
#include <vector>

#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler.h"
#include "pdl/layers.h"
#include "pdl/op_registry.h"
#include "pdl/trainer.h"

/// `count` points, and which of them lie inside of a circle, for the inputs of the network.
static llvm::Expected<pdl::Dataset> MakePoints(int64_t count, unsigned seed,
                                               const pdl::Graph& graph) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> anywhere(-1.5f, 1.5f);
  std::vector<float> points;
  std::vector<int64_t> inside;
  for (int64_t i = 0; i < count; ++i) {
    const float x = anywhere(random), y = anywhere(random);
    points.insert(points.end(), {x, y});
    inside.push_back(x * x + y * y < 1);
  }
  return pdl::Dataset::FromTensors(
      {{"p", pdl::Tensor::FromValues<float>(pdl::DType::kF32, {count, 2}, points)},
       {"inside", pdl::Tensor::FromValues<int64_t>(pdl::DType::kI64, {count}, inside)}},
      graph);
}

static llvm::Error Train(const pdl::Graph& graph) {
  auto data = MakePoints(2000, 1, graph);
  if (!data) return data.takeError();
  auto validation = MakePoints(500, 2, graph);
  if (!validation) return validation.takeError();

  pdl::CPUContext context;
  pdl::TrainerOptions options;
  options.epochs = 20;
  auto trainer =
      pdl::Trainer::Create(graph, std::move(*data), options, &context, pdl::GlobalRegistry());
  if (!trainer) return trainer.takeError();
  (*trainer)->SetValidation(std::move(*validation));

  std::vector<pdl::Metric> last;
  pdl::TrainingCallbacks callbacks;
  callbacks.on_epoch = [&](const pdl::EpochReport& report) {
    last = report.validation;
    return llvm::Error::success();
  };
  if (auto end = (*trainer)->Train(callbacks); !end) return end.takeError();
  for (const pdl::Metric& metric : last)
    llvm::outs() << metric.name << ": " << llvm::format("%.4f", metric.value) << "\n";
  // What was learned: a parameter's value, or a file that `pdl run --weights` takes.
  for (const pdl::Value* parameter : graph.parameters()) {
    auto value = (*trainer)->ValueOf(parameter->name());
    if (!value) return value.takeError();
    llvm::outs() << parameter->name() << ": " << value->TypeString() << "\n";
  }
  return (*trainer)->Save("circle.safetensors");
}

int main(int argc, char** argv) {
  if (argc != 2) return llvm::errs() << "usage: train NETWORK.pdl\n", 2;
  auto text = llvm::MemoryBuffer::getFile(argv[1]);
  if (!text)
    return llvm::errs() << "train: " << argv[1] << ": " << text.getError().message() << "\n", 1;
  pdl::CompileRequest request;
  request.file =
      std::make_shared<const pdl::SourceFile>(argv[1], (*text)->getBuffer().str());
  request.registry = &pdl::GlobalRegistry();
  request.library = pdl::StandardLayers();
  request.training_step = true;
  pdl::CompileResult compiled = pdl::Compile(request);
  compiled.diagnostics.Render(llvm::errs());
  if (!compiled.graph) return 1;
  if (llvm::Error error = Train(*compiled.graph))
    return llvm::errs() << "train: " << llvm::toString(std::move(error)) << "\n", 1;
  return 0;
}
