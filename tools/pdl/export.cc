// pdl export: writes a network as an ONNX model.
#include "onnx/export/export.h"

#include <optional>

#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "runtime/io/file.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl export", "FILE -o OUT.onnx [OPTION]...",
    R"(Writes the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) as an ONNX
model for inference: the calls that its outputs depend on, its parameters, and the
initial values of its states. Sizes that are symbols keep their names; each node is
named after the value that it computes and the source line that it comes from.

Everything that ONNX has no counterpart for is listed at once, and nothing is written:
ragged and sparse values, states that a run changes, random numbers, and the operators
that docs/onnx.md lists.

Weights of 1 GiB or more in total are written to OUT.onnx.data next to the model.
)",
    R"(pdl export model.pdl -o model.onnx
pdl export model.pdl -o model.onnx --weights=model.safetensors
pdl export model.pdlc -o model.onnx --external-data
)"};

/// Larger weights are written to a separate file: a protobuf message is limited to 2 GiB.
constexpr int64_t kMaxInModel = int64_t{1} << 30;

struct ExportArguments {
  CommonOptions common;
  std::string out;
  bool external_data = false;
};

/// The file next to a model that stores its weights. An existing file of its name may be one that
/// is being read; it is replaced when both files are complete.
class DataFile {
 public:
  explicit DataFile(llvm::StringRef model) : path_(model.str() + ".data") {}

  llvm::Error Store(const Constant& bytes, onnx::TensorProto* tensor) {
    if (!file_) {
      // The user has not given its name, so a link there is not followed.
      llvm::Expected<AtomicFile> file = AtomicFile::Create(path_, AtomicFile::Links::kReplace);
      if (!file) return file.takeError();
      file_.emplace(std::move(*file));
    }
    // So that programs can map it.
    constexpr int64_t kAlignment = 4096;
    const std::string padding(static_cast<size_t>(-size_ & (kAlignment - 1)), '\0');
    if (llvm::Error error = file_->Write(padding)) return error;
    size_ += static_cast<int64_t>(padding.size());
    const auto set = [&](const char* key, const std::string& value) {
      onnx::StringStringEntryProto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    set("location", llvm::sys::path::filename(path_).str());
    set("offset", std::to_string(size_));
    set("length", std::to_string(bytes.num_bytes()));
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    size_ += bytes.num_bytes();
    return file_->Write(bytes.data(), bytes.num_bytes());
  }

  llvm::Error Commit() { return file_ ? file_->Commit() : llvm::Error::success(); }

 private:
  std::string path_;
  std::optional<AtomicFile> file_;
  int64_t size_ = 0;
};

/// The total size of parameters and states.
int64_t WeightBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Value* variable : Variables(graph)) {
    const Dim count = NumElements(variable->type().dims);
    if (count.is_valid() && count.is_constant())
      bytes += count.constant() * DTypeSize(variable->type().dtype);
  }
  return bytes;
}

llvm::Error Export(llvm::StringRef path, const ExportArguments& arguments) {
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, arguments.common);
  if (!loaded) return loaded.takeError();
  llvm::Expected<std::shared_ptr<const Network>> network =
      CreateNetwork(std::move(*loaded), arguments.common);
  if (!network) return network.takeError();
  DataFile data(arguments.out);
  OnnxExportOptions options;
  const llvm::StringRef stem = llvm::sys::path::stem(path);
  if (path != "-" && !stem.empty()) options.name = stem.str();
  options.value = [&](llvm::StringRef name) { return (*network)->InitialValue(name); };
  if (arguments.external_data || WeightBytes((*network)->graph()) >= kMaxInModel)
    options.store = [&](const Constant& bytes, onnx::TensorProto* tensor) {
      return data.Store(bytes, tensor);
    };
  llvm::Expected<onnx::ModelProto> model =
      ExportOnnx((*network)->graph(), GlobalRegistry(), options);
  if (!model) return model.takeError();
  std::string bytes;
  if (!model->SerializeToString(&bytes))
    return MakeUserError(Code::kBadFile, "'{0}' would be larger than 2 GiB", arguments.out);
  // If the disk is full, the old model and its weights stay.
  llvm::Expected<AtomicFile> file = AtomicFile::Create(arguments.out);
  if (!file) return file.takeError();
  if (llvm::Error error = file->Write(bytes)) return error;
  if (llvm::Error error = data.Commit()) return error;
  return file->Commit();
}

}  // namespace

int ExportMain(Arguments arguments) {
  ExportArguments options;
  CommandLine line(kHelp);
  line.AddString("-o, --output", "OUT.onnx", "the model to write", &options.out);
  line.AddFlag("--external-data", "store weights in OUT.onnx.data, whatever their total size",
               &options.external_data);
  line.Section("The network");
  AddNetworkOptions(line, &options.common);
  AddWeightsOption(line, &options.common);
  line.AddValue("--seed", "N", "seed of initial parameters (default 0)",
                [&options](llvm::StringRef text) -> llvm::Error {
                  if (text.getAsInteger(10, options.common.seed))
                    return MakeUsageError("expected an integer of at least 0, got '{0}'", text);
                  return llvm::Error::success();
                });
  AddMessageOptions(line);
  line.AddSandbox({"--output"});
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kSuccess;
  if (options.out.empty()) return Finish(line.Wrong("no output is given: give -o OUT.onnx"));
  return Finish(Export(**file, options));
}

}  // namespace pdl
