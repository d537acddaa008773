// Models in memory: Model::FromBytes.
#include <iterator>

#include "pdl/pdl_c.h"
#include "test/cc/model/pdl_h_fixture.h"

namespace pdl {
namespace {

constexpr char kScaled[] = "input x: f32[N]\nparam w: f32[] = fill(value=3.0)\noutput y = w * x\n";

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The elements of y for x = [1, 2], or the error.
std::string ResultOf(const Result<Model>& model) {
  if (!model.ok()) return model.status().ToString();
  const float x[] = {1, 2};
  const Result<Arrays> outputs = model->Run({{"x", Array::View(x, {2})}});
  if (!outputs.ok()) return outputs.status().ToString();
  const std::vector<float> y = FloatsIn(outputs->at("y"));
  return std::to_string(y.at(0)) + " " + std::to_string(y.at(1));
}

Result<Model> FromBytes(const std::string& bytes, const std::string& name,
                        const ModelOptions& options = {}) {
  // A copy that is gone when the model runs.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  return Model::FromBytes(copy.data(), copy.size(), name, options);
}

class Bytes : public Files {};

TEST_F(Bytes, OfEachFormatAreTheModelOfTheFile) {
  for (const char* name : {"m.pdl", "m.pdlc", "m.onnx"}) {
    ASSERT_TRUE(CompileModel(kScaled).Save(Path(name)).ok());
    ModelOptions options;
    options.folder = folder_.string();
    EXPECT_EQ(ResultOf(FromBytes(BytesOf(Path(name)), name, options)), "3.000000 6.000000") << name;
  }
  // An ONNX model contains its weights.
  EXPECT_EQ(ResultOf(FromBytes(BytesOf(Path("m.onnx")), "m.onnx")), "3.000000 6.000000");
}

TEST_F(Bytes, ReferToFilesOfTheFolder) {
  ASSERT_TRUE(CompileModel(kScaled).Save(Path("m.pdlc")).ok());
  const std::string bytes = BytesOf(Path("m.pdlc"));
  const Status status = FromBytes(bytes, "m.pdlc").status();
  EXPECT_EQ(status.code(), "PDL0401");
  EXPECT_NE(status.message().find("m.safetensors"), std::string::npos) << status.message();
  ModelOptions options;
  options.weights = Path("m.safetensors");
  options.folder = folder_.string();
  EXPECT_EQ(ResultOf(FromBytes(bytes, "m.pdlc", options)), "3.000000 6.000000");
}

TEST_F(Bytes, CanBeTrained) {
  const Result<Model> model = FromBytes(
      "input x: f32[N]\nparam w: f32[] = zeros()\nloss = mean((w * x - 2.0 * x) ** 2)\n"
      "output y = w * x\nminimize loss with sgd(lr=0.1)\n",
      "m.pdl");
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const float x[] = {1, 2, 1, 2};
  TrainRequest request;
  request.batch_size = 4;
  request.epochs = 100;
  const Result<TrainedModel> trained = model->Train({{"x", Array::View(x, {4})}}, request);
  ASSERT_TRUE(trained.ok()) << trained.status().ToString();
  EXPECT_EQ(ResultOf(trained->model), "2.000000 4.000000");
}

TEST_F(Bytes, ThatAreNoModelAreErrors) {
  ASSERT_TRUE(CompileModel(kScaled).Save(Path("m.onnx")).ok());
  const std::string onnx = BytesOf(Path("m.onnx"));
  const auto error = [](const Status& status) { return status.code() + ": " + status.message(); };
  EXPECT_EQ(error(FromBytes(onnx.substr(0, onnx.size() / 2), "m.onnx").status()),
            "PDL0402: 'm.onnx' is not an ONNX model, or is truncated");
  EXPECT_EQ(error(FromBytes("", "m.onnx").status()), "PDL0402: 'm.onnx': it has no graph");
  EXPECT_EQ(FromBytes("", "m.pdlc").status().code(), "PDL0402");
  EXPECT_EQ(FromBytes(onnx, "m.pdlc").status().code(), "PDL0402");
  EXPECT_EQ(error(FromBytes(onnx, "m").status()),
            "PDL0401: the name of a model in memory must end in .pdl, .pdlc or .onnx, which is its "
            "format; got 'm'");
  EXPECT_EQ(error(Model::FromBytes(nullptr, 3, "m.pdl").status()),
            "PDL0401: 'm.pdl' has no data (a null pointer)");
  const Status status = FromBytes("input x: f32[N]\noutput y = x +\n", "m.pdl").status();
  EXPECT_EQ(status.file() + ":" + std::to_string(status.line()), "m.pdl:2") << status.ToString();
}

TEST_F(Bytes, OfFromSourceAreSource) {
  EXPECT_EQ(ResultOf(Model::FromSource(kScaled, {}, "m.onnx")), "3.000000 6.000000");
}

TEST_F(Bytes, InC) {
  pdl_model* model = nullptr;
  ASSERT_EQ(pdl_model_from_bytes(kScaled, sizeof kScaled - 1, "m.pdl", nullptr, &model), nullptr);
  EXPECT_EQ(pdl_model_count(model, PDL_OUTPUTS), 1u);
  pdl_model_free(model);
  pdl_status* status = pdl_model_from_bytes(kScaled, 3, nullptr, nullptr, &model);
  EXPECT_STREQ(pdl_status_message(status), "'name' is a null pointer");
  EXPECT_EQ(model, nullptr);
  pdl_status_free(status);
}

}  // namespace
}  // namespace pdl
