// pdl export: writes a network as an ONNX model.
#include "onnx/export/export.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/io.h"
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

/// The file next to a model that stores its weights. It is written under a unique temporary name,
/// because an existing file of the final name may be one that is being read.
class DataFile {
 public:
  explicit DataFile(llvm::StringRef model) : path_(model.str() + ".data") {}
  ~DataFile() {
    if (file_ && !is_kept_) llvm::sys::fs::remove(temporary_);
  }

  llvm::Error Store(const Constant& bytes, onnx::TensorProto* tensor) {
    if (!file_) {
      int fd = -1;
      if (std::error_code code =
              llvm::sys::fs::createUniqueFile(path_ + ".%%%%%%%%.tmp", fd, temporary_))
        return CannotWrite(code);
      file_ = std::make_unique<llvm::raw_fd_ostream>(fd, /*shouldClose=*/true);
    }
    // So that programs can map it.
    constexpr uint64_t kAlignment = 4096;
    file_->write_zeros(static_cast<unsigned>(-file_->tell() % kAlignment));
    const auto set = [&](const char* key, const std::string& value) {
      onnx::StringStringEntryProto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    set("location", llvm::sys::path::filename(path_).str());
    set("offset", std::to_string(file_->tell()));
    set("length", std::to_string(bytes.num_bytes()));
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    file_->write(static_cast<const char*>(bytes.data()), static_cast<size_t>(bytes.num_bytes()));
    if (file_->has_error()) return CannotWrite(file_->error());
    return llvm::Error::success();
  }

  /// Renames the file to its final name.
  llvm::Error Keep() {
    if (!file_) return llvm::Error::success();
    file_->close();
    if (file_->has_error()) return CannotWrite(file_->error());
    if (std::error_code code = llvm::sys::fs::rename(temporary_, path_)) return CannotWrite(code);
    is_kept_ = true;
    return llvm::Error::success();
  }

 private:
  llvm::Error CannotWrite(std::error_code code) {
    if (file_) file_->clear_error();
    return MakeUserError(Code::kBadFile, "cannot write '{0}': {1}", path_, code.message());
  }

  std::string path_;
  llvm::SmallString<256> temporary_;
  std::unique_ptr<llvm::raw_fd_ostream> file_;
  bool is_kept_ = false;
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
  if (llvm::Error error = data.Keep()) return error;
  return WriteFileAtomically(arguments.out, bytes);
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
