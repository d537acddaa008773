// The emitted source of an imported model compiles, and computes the same bits.
#include <gtest/gtest.h>

#include "onnx/import/text.h"
#include "pdl/op/error.h"
#include "test/conformance/onnx/written.h"

namespace pdl {
namespace {

/// A node on x, where negative dims are symbols, and on weights of ones.
onnx::ModelProto Model(const std::string& type, const std::vector<int64_t>& dims,
                       const std::vector<std::vector<int64_t>>& weights) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto* graph = model.mutable_graph();
  auto* x = graph->add_input();
  x->set_name("x");
  auto* tensor = x->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t size : dims) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (size < 0)
      dim->set_dim_param("D" + std::to_string(-size));
    else
      dim->set_dim_value(size);
  }
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type(type);
  node->add_input("x");
  node->add_output("y");
  for (const std::vector<int64_t>& sizes : weights) {
    auto* weight = graph->add_initializer();
    weight->set_name("w" + std::to_string(graph->initializer_size()));
    weight->set_data_type(onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (const int64_t size : sizes) {
      weight->add_dims(size);
      count *= size;
    }
    for (int64_t i = 0; i < count; ++i) weight->add_float_data(static_cast<float>(i % 7 + 1));
    node->add_input(weight->name());
  }
  graph->add_output()->set_name("y");
  return model;
}

/// The emitted source if it computes the same as the model; otherwise the error.
std::string TextOf(const onnx::ModelProto& proto, const std::vector<int64_t>& fed) {
  llvm::Expected<OnnxModel> model = OnnxModel::Parse(proto.SerializeAsString(), "m.onnx", ".");
  if (!model) return llvm::toString(model.takeError());
  ImportOptions options;
  options.weight_file = "w.safetensors";
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model, options);
  if (!imported) return llvm::toString(imported.takeError());
  const std::string text = WriteImportedText(*imported, "w.safetensors").text;
  llvm::Expected<testing::WrittenNetwork> written = testing::WriteAndCompile(*imported);
  if (!written) return llvm::toString(written.takeError());
  if (llvm::Error error = testing::CheckEmitted(imported->graph))
    return llvm::toString(std::move(error));
  int64_t count = 1;
  for (const int64_t size : fed) count *= size;
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i) / 8 - 1);
  llvm::StringMap<Constant> feeds;
  feeds[imported->inputs[0].second] = Constant::Copy(DType::kF32, fed, numbers.data());
  auto wanted = testing::RunOnce(std::move(imported->graph), imported->weights, feeds);
  auto got = testing::RunOnce(std::move(written->graph), written->weights, feeds);
  if (!wanted) return llvm::toString(wanted.takeError());
  if (!got) return llvm::toString(got.takeError());
  const std::string difference = testing::BitDifference(*wanted, *got);
  return difference.empty() ? text : difference;
}

void ExpectText(const onnx::ModelProto& proto, const std::vector<int64_t>& fed, bool has_layer,
                const std::string& layer) {
  const std::string text = TextOf(proto, fed);
  EXPECT_TRUE(llvm::StringRef(text).contains("input x")) << text;
  EXPECT_EQ(llvm::StringRef(text).contains(layer), has_layer) << text;
}

TEST(OnnxTextTest, AWidthThatIsKnownMakesALayer) {
  ExpectText(Model("MatMul", {-1, 4}, {{4, 8}}), {3, 4}, true, "fc(size=8, bias=false)");
  ExpectText(Model("Gemm", {-1, 4}, {{4, 8}, {8}}), {3, 4}, true, "fc(size=8)");
  ExpectText(Model("Conv", {-1, 2, -2, -3}, {{5, 2, 3, 3}}), {1, 2, 4, 4}, true, "conv(");
  ExpectText(Model("BatchNormalization", {-1, 3, -2}, {{3}, {3}, {3}, {3}}), {2, 3, 4}, true,
             "batch_norm(");
}

// Names of inputs and outputs are those of the model where the language accepts them. Names that
// are equal once they are converted stay apart.
TEST(OnnxTextTest, NamesOfInputsAndOutputs) {
  for (const char* input : {"x", "input", "x:0", "a.b", "a_b", "softmax", "for", "a/b", "1", "é"}) {
    for (const char* output :
         {"x", "output", "input_", "x:0", "a.b", "a_b", "softmax", "in", "a/b", "2"}) {
      if (llvm::StringRef(input) == output) continue;
      onnx::ModelProto model = Model("Relu", {-1}, {});
      onnx::GraphProto* graph = model.mutable_graph();
      graph->mutable_input(0)->set_name(input);
      graph->mutable_node(0)->set_input(0, input);
      graph->mutable_node(0)->set_output(0, output);
      graph->mutable_output(0)->set_name(output);
      // More outputs whose names are the same once they are converted.
      for (const char* other : {"b:0", "b", "b_2", "b/"}) {
        onnx::NodeProto* node = graph->add_node();
        node->set_op_type("Neg");
        node->add_input(output);
        node->add_output(other);
        graph->add_output()->set_name(other);
      }
      const std::string text = TextOf(model, {3});
      EXPECT_TRUE(llvm::StringRef(text).contains("input "))
          << input << ", " << output << ": " << text;
      for (const char* name : {"input", "softmax", "a.b"}) {
        const bool is_declared = llvm::StringRef(text).contains(std::string("input ") + name + ":");
        EXPECT_EQ(is_declared, llvm::StringRef(input) == name) << text;
      }
    }
  }
}

// The weights of a layer depend on the sizes of its input, which must be constants.
TEST(OnnxTextTest, AWidthThatIsASymbolMakesNone) {
  ExpectText(Model("MatMul", {-1, -2}, {{4, 8}}), {3, 4}, false, "fc(");
  ExpectText(Model("Gemm", {-1, -2}, {{4, 8}, {8}}), {3, 4}, false, "fc(");
  ExpectText(Model("Conv", {-1, -4, -2, -3}, {{5, 2, 3, 3}}), {1, 2, 4, 4}, false, "conv(");
  ExpectText(Model("BatchNormalization", {-1, -3, -2}, {{3}, {3}, {3}, {3}}), {2, 3, 4}, false,
             "batch_norm(");
}

// No layer has a size of 0.
TEST(OnnxTextTest, AWidthOfNothingMakesNone) {
  ExpectText(Model("MatMul", {-1, 4}, {{4, 0}}), {3, 4}, false, "fc(");
  ExpectText(Model("MatMul", {-1, 0}, {{0, 4}}), {3, 0}, false, "fc(");
}

// A literal can only specify the sizes of an empty constant up to the first 0.
TEST(OnnxTextTest, SizesOfEmptyConstants) {
  ExpectText(Model("MatMul", {-1, 0}, {{0, 4}}), {3, 0}, true, "reshape([0, 4])");
  ExpectText(Model("MatMul", {-1, 4}, {{4, 0}}), {3, 4}, true, "reshape([4, 0])");
  ExpectText(Model("MatMul", {-1, -2, 0}, {{0, 4}}), {3, 2, 0}, true, "reshape([0, 4])");
}

}  // namespace
}  // namespace pdl
