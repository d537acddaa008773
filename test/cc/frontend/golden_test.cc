#include <filesystem>

#include "gtest/gtest.h"
#include "llvm/Support/MemoryBuffer.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "pdl/pdl.h"
#include "pdl/train/dataset.h"
#include "pdl/train/trainer.h"

// Files of released versions, which never change: golden/README.md. NAME.pdl has the source of each
// network, and NAME.ir its output of EmitIr: the meaning of a file must not depend on the defaults
// of later versions.

namespace pdl {
namespace {

namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  auto buffer = llvm::MemoryBuffer::getFile(path.string());
  if (buffer) return (*buffer)->getBuffer().str();
  ADD_FAILURE() << path << ": " << buffer.getError().message();
  return "";
}

TEST(Golden, StoredNetworksLoadForEver) {
  int networks = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator("golden")) {
    if (entry.path().extension() != ".pdlc") continue;
    ++networks;
    SCOPED_TRACE(entry.path().string());
    std::string bytes = Read(entry.path());
    llvm::Expected<Graph> graph =
        DeserializeNetwork(bytes, entry.path().string(), GlobalRegistry());
    if (!graph) {
      ADD_FAILURE() << llvm::toString(graph.takeError());
      continue;
    }
    EXPECT_EQ(EmitIr(*graph), Read(fs::path(entry.path()).replace_extension(".ir")));
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".pdl")));
    // Serialized again, they have the same meaning.
    llvm::Expected<std::string> again = SerializeNetwork(*graph);
    ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
    llvm::Expected<Graph> reread = DeserializeNetwork(*again, "again", GlobalRegistry());
    ASSERT_TRUE(static_cast<bool>(reread)) << llvm::toString(reread.takeError());
    EXPECT_EQ(EmitIr(*reread), EmitIr(*graph));
  }
  EXPECT_GT(networks, 0);
}

/// The output `prob` of two rows, which must be these numbers.
void ExpectProb(const std::string& path, const std::string& weights,
                const std::vector<double>& expected) {
  SCOPED_TRACE(path + " " + weights);
  ModelOptions options;
  options.weights = weights;
  Result<Model> model = Model::Load(path, options);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  std::vector<float> x = {1, 0.5, -0.25, 2, -1, 0, 1, 3};
  Result<Arrays> outputs =
      model->Run({{"x", Array::View(x.data(), {2, 4})}}, {.outputs = {"prob"}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  const Array& prob = outputs->at("prob");
  ASSERT_EQ(prob.sizes, (std::vector<int64_t>{2, 3}));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(prob.As<float>()[i], expected[i], 1e-5);
}

TEST(Golden, TrainedNetworksHaveTheSameResults) {
  const std::vector<double> prob = {0.26916358, 0.5635862, 0.1672502,
                                    0.10625475, 0.830508,  0.0632373};
  ExpectProb("golden/v2/trained.pdlc", "", prob);
  ExpectProb("golden/v2/trained.pdl", "golden/v2/trained.best.safetensors", prob);
  ExpectProb("golden/v2/trained.pdl", "golden/v2/trained.last.safetensors", prob);
}

// The checkpoint is that of two epochs, and two more follow.
TEST(Golden, CheckpointsAreResumed) {
  LoadOptions load;
  load.training_step = true;
  llvm::Expected<LoadedNetwork> network = LoadNetwork("golden/v2/trained.pdl", load);
  ASSERT_TRUE(static_cast<bool>(network)) << llvm::toString(network.takeError());
  llvm::Expected<Dataset> data = Dataset::Open("golden/v2/trained.csv", network->graph);
  ASSERT_TRUE(static_cast<bool>(data)) << llvm::toString(data.takeError());
  const std::string folder = testing::TempDir() + "golden_test";
  fs::create_directories(folder);
  TrainerOptions options;
  options.batch_size = 8;
  options.epochs = 4;
  options.folder = folder;
  CPUContext context(/*threads=*/1);
  llvm::Expected<std::unique_ptr<Trainer>> trainer =
      Trainer::Create(network->graph, std::move(*data), options, &context, GlobalRegistry());
  ASSERT_TRUE(static_cast<bool>(trainer)) << llvm::toString(trainer.takeError());
  EXPECT_EQ(llvm::toString((*trainer)->Resume("golden/v2/trained.last.safetensors")), "");
  EXPECT_EQ((*trainer)->step(), 6);
  llvm::Expected<TrainingEnd> end = (*trainer)->Train();
  ASSERT_TRUE(static_cast<bool>(end)) << llvm::toString(end.takeError());
  EXPECT_EQ((*trainer)->step(), 12);
  ExpectProb("golden/v2/trained.pdl", folder + "/last.safetensors",
             {0.2915656, 0.5774664, 0.13096792, 0.08531483, 0.86732805, 0.04735712});
}

}  // namespace
}  // namespace pdl
