// The names of the files of weights that Model::Save writes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "test/cc/model/pdl_h_fixture.h"

namespace pdl {
namespace {

constexpr char kOnes[] = "input x: f32[N]\nparam w: f32[] = ones()\noutput y = x * w\n";
constexpr char kTwos[] = "input x: f32[N]\nparam w: f32[] = constant(2.0)\noutput y = x * w\n";

class Saving : public Files {
 protected:
  void Save(const char* source, const std::string& name) const {
    const Status status = CompileModel(source).Save(Path(name));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  /// The parameter of a saved model; -1 if it cannot be loaded.
  float WeightOf(const std::string& name) const {
    Result<Model> model = Model::Load(Path(name));
    EXPECT_TRUE(model.ok()) << model.status().ToString();
    return model.ok() ? FloatsIn(*model->Value("w"))[0] : -1;
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }
};

TEST_F(Saving, ModelsOfOneStem) {
  for (const auto& [first, second] : {std::pair("s.pdl", "s.pdlc"), std::pair("t.pdlc", "t.pdl"),
                                      std::pair("model.v1", "model.v2"), std::pair("m", "m.pdl")}) {
    Save(kOnes, first);
    Save(kTwos, second);
    EXPECT_EQ(WeightOf(first), 1) << first;
    EXPECT_EQ(WeightOf(second), 2) << second;
    // Saving again changes neither.
    Save(kTwos, first);
    EXPECT_EQ(WeightOf(first), 2) << first;
    Save(kOnes, second);
    EXPECT_EQ(WeightOf(first), 2) << first;
    EXPECT_EQ(WeightOf(second), 1) << second;
  }
  EXPECT_TRUE(Exists("s.safetensors"));
  EXPECT_TRUE(Exists("s.pdlc.safetensors"));
  EXPECT_TRUE(Exists("model.v1.safetensors"));
  EXPECT_FALSE(Exists("model.safetensors"));
}

TEST_F(Saving, WeightsOfTheUserAreNotReplaced) {
  Save(kOnes, "base.pdl");
  std::filesystem::rename(Path("base.safetensors"), Path("s.safetensors"));
  Save(kTwos, "s.pdlc");
  EXPECT_EQ(WeightOf("s.pdlc"), 2);
  ModelOptions options;
  options.weights = Path("s.safetensors");
  EXPECT_EQ(FloatsIn(*CompileModel(kTwos, options).Value("w"))[0], 1);
}

// The source mentions a file of which the name ends in that of the user's.
TEST_F(Saving, OtherFilesThatTheSourceMentions) {
  Save(kOnes, "base_m.pdl");
  Save(kTwos, "m.pdlc");
  std::filesystem::remove(Path("m.pdlc"));
  std::ofstream(Path("m.pdl")) << "# not m.safetensors\ninput x: f32[N]\nparam w: f32[] = "
                                  "load(\"base_m.safetensors\", \"w\")\noutput y = x * w\n";
  Result<Model> model = Model::Load(Path("m.pdl"));
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  ASSERT_TRUE(model->Save(Path("m.pdl")).ok());
  EXPECT_EQ(WeightOf("m.pdl"), 1);
  ModelOptions options;
  options.weights = Path("m.safetensors");
  EXPECT_EQ(FloatsIn(*CompileModel(kOnes, options).Value("w"))[0], 2);
}

// The source needs a setting, or names the file in another way.
TEST_F(Saving, WeightsThatTheSourceMayUse) {
  for (const char* source :
       {"attr k: int\nparam w: f32[] = load(\"m.safetensors\", \"w\")\noutput y = w * k\n",
        "param w: f32[] = load(\"./m.safetensors\", \"w\")\noutput y = w\n",
        "attr pre: bool = false\nparam w: f32[] = ones()\nif pre { load \"m.safetensors\" "
        "}\noutput w\n"}) {
    Save(kOnes, "m.pdlc");
    std::ofstream(Path("m.pdl")) << source;
    Save(kTwos, "m.pdlc");
    EXPECT_EQ(WeightOf("m.pdlc"), 2) << source;
    ModelOptions options;
    options.weights = Path("m.safetensors");
    EXPECT_EQ(FloatsIn(*CompileModel(kTwos, options).Value("w"))[0], 1) << source;
    for (const char* name : {"m.pdl", "m.pdlc", "m.safetensors", "m.pdlc.safetensors"})
      std::filesystem::remove(Path(name));
  }
}

TEST_F(Saving, AModelThatCannotBeWrittenLeavesNoWeights) {
  const Model model = CompileModel(kOnes);
  std::filesystem::create_directory(Path("folder.pdl"));
  // Source cannot name the second one, nor the third.
  for (const char* name : {"folder.pdl", "caf\xe9.pdl", "two\nlines.pdl", "caf\xe9.pdlc"})
    EXPECT_FALSE(model.Save(Path(name)).ok()) << name;
  EXPECT_FALSE(model.Save(Path("")).ok());
  EXPECT_EQ(model.Save("").message(), "cannot write '': the path is empty");
  EXPECT_EQ(model.Save(Path("folder.pdl")).message(),
            "cannot write '" + Path("folder.pdl") + "': it is a folder");
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    EXPECT_EQ(entry.path().filename(), "folder.pdl");
  EXPECT_FALSE(std::filesystem::exists(".safetensors"));
}

TEST_F(Saving, ErrorsOfExportHaveAPosition) {
  const Model model =
      CompileModel("input x: f32[N]\nstate t: f32[] = zeros()\nupdate t = t + sum(x)\noutput t\n");
  const Status status = model.Save(Path("m.onnx"));
  EXPECT_EQ(status.message(), "a run changes the state 't', and an ONNX model has no states");
  EXPECT_EQ(status.file(), "<source>");
  EXPECT_EQ(status.line(), 2);
  EXPECT_EQ(status.column(), 1);
  EXPECT_EQ(status.code(), "PDL0901");
}

TEST_F(Saving, ASavedModelIsReplacedTogetherWithItsWeights) {
  // The source does not refer to the weights.
  Write("s.pdl", kOnes);
  Save(kOnes, "s.pdlc");
  Save(kTwos, "s.pdlc");
  EXPECT_EQ(WeightOf("s.pdlc"), 2);
  EXPECT_TRUE(Exists("s.safetensors"));
  EXPECT_FALSE(Exists("s.pdlc.safetensors"));
}

}  // namespace
}  // namespace pdl
