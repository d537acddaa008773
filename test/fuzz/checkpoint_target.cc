// Checkpoints: a rejected one does not change the trainer, an accepted one trains a step.
#include <vector>

#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "pdl/train/trainer.h"
#include "properties.h"
#include "targets.h"

namespace pdl::fuzz {
namespace {

/// A trainer of one small network on eight rows.
std::unique_ptr<Trainer> MakeTrainer() {
  static CPUContext context(/*threads=*/1);
  static const CompileResult result = [] {
    CompileRequest request;
    request.file = std::make_shared<const SourceFile>("fuzz.pdl", R"(
input x: f32[N, 2]
input t: i64[N] in 0..3
output loss = mean(cross_entropy(fc(dropout(x, p=0.5), size=3), t))
minimize loss with adam(lr=0.1)
)");
    request.registry = &GlobalRegistry();
    request.library = StandardLayers();
    request.training_step = true;
    return Compile(request);
  }();
  if (!result.graph) Fail("the network of the training does not compile");
  const std::vector<float> x(16, 0.5f);
  const std::vector<int64_t> t = {0, 1, 2, 0, 1, 2, 0, 1};
  llvm::Expected<Dataset> data =
      Dataset::FromTensors({{"x", Tensor::FromValues<float>(DType::kF32, {8, 2}, x)},
                            {"t", Tensor::FromValues<int64_t>(DType::kI64, {8}, t)}},
                           *result.graph);
  if (!data) RequireSuccess(data.takeError(), "the data of the training");
  TrainerOptions options;
  options.batch_size = 3;
  options.epochs = 2;
  llvm::Expected<std::unique_ptr<Trainer>> trainer =
      Trainer::Create(*result.graph, std::move(*data), options, &context, GlobalRegistry());
  if (!trainer) RequireSuccess(trainer.takeError(), "the trainer");
  return std::move(*trainer);
}

std::string Saved(Trainer& trainer) {
  const std::string path = WriteInput("saved.safetensors", "");
  RequireSuccess(trainer.Save(path), "a checkpoint is not written");
  return ReadFiles(llvm::StringRef(path).rsplit('/').first, {"saved.safetensors"}).front();
}

}  // namespace

void RunCheckpoint(llvm::StringRef bytes) {
  static const std::unique_ptr<Trainer> trainer = MakeTrainer();
  static const std::string untouched = Saved(*trainer);
  if (llvm::Error error = trainer->Resume(WriteInput("last.safetensors", bytes))) {
    llvm::consumeError(std::move(error));
    // A change would last, so a later comparison finds it as well.
    static unsigned rejected = 0;
    if ((!samples_expensive_checks || rejected++ % 8 == 0) && Saved(*trainer) != untouched)
      Fail(samples_expensive_checks
               ? "this checkpoint, or one of the 7 rejected before it, changed the training"
               : "a rejected checkpoint changed the training");
    return;
  }
  static unsigned accepted = 0;
  if (trainer->step() < 0 || trainer->epoch() < 0) Fail("a step or an epoch is negative");
  llvm::Expected<StepReport> report = trainer->Step();
  const bool compares = !samples_expensive_checks || accepted++ % 8 == 0;
  if (!report)
    llvm::consumeError(report.takeError());
  else if (compares)
    (void)Saved(*trainer);
  RequireSuccess(trainer->Resume(WriteInput("last.safetensors", untouched)),
                 "the first checkpoint is rejected");
  if (compares && Saved(*trainer) != untouched)
    Fail("resuming from the first checkpoint does not restore it");
}

std::vector<std::string> CheckpointSeeds(llvm::StringRef) {
  std::vector<std::string> seeds;
  std::unique_ptr<Trainer> trainer = MakeTrainer();
  for (int step = 0; step < 5; ++step) {
    seeds.push_back(Saved(*trainer));
    llvm::Expected<StepReport> report = trainer->Step();
    if (!report) RequireSuccess(report.takeError(), "a step");
  }
  return seeds;
}

}  // namespace pdl::fuzz
