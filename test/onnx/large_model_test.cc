// A model whose weights exceed the size of a protobuf message, and the memory of a small machine.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx/export/export.h"
#include "onnx/import/import.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/scope.h"
#include "test/cc/testing/sanitizers.h"

namespace pdl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRows = 655'360, kWidth = 1024;
constexpr int64_t kBytes = kRows * kWidth * 4;  // 2.5 GiB
/// The memory that a process may use in addition to mapped files.
constexpr rlim_t kMemory = rlim_t{256} << 20;

void AddValue(onnx::ValueInfoProto* info, const char* name, int32_t type,
              llvm::ArrayRef<int64_t> sizes) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape()->add_dim()->set_dim_param("N");
  for (const int64_t size : sizes) tensor->mutable_shape()->add_dim()->set_dim_value(size);
}

/// y = table[i], with the table in a sparse file: ones in the last row, zeros elsewhere.
void WriteModel(const fs::path& folder) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto* graph = model.mutable_graph();
  graph->set_name("large");
  AddValue(graph->add_input(), "i", onnx::TensorProto::INT64, {});
  AddValue(graph->add_output(), "y", onnx::TensorProto::FLOAT, {kWidth});
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type("Gather");
  node->add_input("table");
  node->add_input("i");
  node->add_output("y");
  onnx::TensorProto* table = graph->add_initializer();
  table->set_name("table");
  table->set_data_type(onnx::TensorProto::FLOAT);
  table->add_dims(kRows);
  table->add_dims(kWidth);
  table->set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto* location = table->add_external_data();
  location->set_key("location");
  location->set_value("table.bin");
  std::ofstream(folder / "large.onnx", std::ios::binary) << model.SerializeAsString();

  const std::vector<float> ones(kWidth, 1.0f);
  const int file = ::open((folder / "table.bin").c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::ftruncate(file, kBytes), 0);
  ASSERT_EQ(::pwrite(file, ones.data(), kWidth * 4, kBytes - kWidth * 4), kWidth * 4);
  ::close(file);
}

/// Imports, runs and exports it; returns "" for success.
std::string Use(const fs::path& path) {
  llvm::Expected<OnnxModel> model = OnnxModel::Read(path.string());
  if (!model) return llvm::toString(model.takeError());
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model);
  if (!imported) return llvm::toString(imported.takeError());
  NetworkOptions options;
  for (const auto& entry : imported->weights) options.weights[entry.getKey()] = entry.second;
  auto network = Network::Create(std::move(imported->graph), std::move(options), GlobalRegistry());
  if (!network) return llvm::toString(network.takeError());

  Scope scope;
  scope.Create("i")->Set(Tensor::FromValues<int64_t>(DType::kI64, {2}, {0, kRows - 1}));
  CPUContext context;
  if (llvm::Error error = (*network)->Run(&scope, &context))
    return llvm::toString(std::move(error));
  const Tensor* y = scope.Find("y")->Get<Tensor>();
  if (y->num_elements() != 2 * kWidth) return "y is " + y->TypeString();
  for (int64_t i = 0; i < 2 * kWidth; ++i)
    if (y->data<float>()[i] != (i < kWidth ? 0.0f : 1.0f)) return "a wrong element";

  OnnxExportOptions export_options;
  export_options.value = [&](llvm::StringRef name) { return (*network)->InitialValue(name); };
  int64_t stored = 0;
  export_options.store = [&](const Constant& bytes, onnx::TensorProto* tensor) {
    stored += bytes.num_bytes();
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    return llvm::Error::success();
  };
  llvm::Expected<onnx::ModelProto> exported =
      ExportOnnx((*network)->graph(), GlobalRegistry(), export_options);
  if (!exported) return llvm::toString(exported.takeError());
  if (stored != kBytes) return "it stores " + std::to_string(stored) + " bytes";
  if (exported->ByteSizeLong() > 4096) return "the model itself is large";
  return "";
}

TEST(LargeModel, WeightsAreMapped) {
  const fs::path folder =
      fs::temp_directory_path() / ("pdl-large-model-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  WriteModel(folder);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit limit = {kMemory, kMemory};
    if (!kIsSanitized) ::setrlimit(RLIMIT_DATA, &limit);
    const std::string mistake = Use(folder / "large.onnx");
    if (!mistake.empty()) llvm::errs() << mistake << '\n';
    ::_exit(mistake.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  fs::remove_all(folder);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace pdl
