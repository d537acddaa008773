#include "model/onnx_file.h"

#include <optional>

#include "llvm/Support/Path.h"
#include "onnx/export/export.h"
#include "pdl/op/error.h"
#include "pdl/op/literal.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/io.h"
#include "runtime/io/file.h"

namespace pdl {
namespace {

/// Fixes an input to a constant, or a symbolic size to a number. `place` names
/// the setting in messages.
llvm::Error AddSetting(const OnnxModel& model, const std::string& name, llvm::StringRef text,
                       llvm::StringRef place, ImportOptions* import) {
  if (text.ends_with(".npy")) {
    llvm::Expected<Tensor> tensor = ReadNpy(text);
    if (!tensor) return tensor.takeError();
    import->fixed_inputs[name] = tensor->ToConstant();
    return llvm::Error::success();
  }
  for (const onnx::ValueInfoProto& input : model.proto().graph().input()) {
    if (input.name() != name) continue;
    llvm::Expected<DType> dtype = DTypeFromOnnx(input.type().tensor_type().elem_type());
    if (!dtype) return dtype.takeError();
    llvm::Expected<Tensor> tensor = ParseLiteral(text, *dtype);
    if (!tensor) {
      return llvm::handleErrors(tensor.takeError(), [&](const UserError& error) {
        return MakeUserError(error.code(), "{0}: {1}", place, error.text());
      });
    }
    import->fixed_inputs[name] = tensor->ToConstant();
    return llvm::Error::success();
  }
  int64_t size = 0;
  if (text.getAsInteger(10, size) || size < 0) {
    return MakeUserError(
        Code::kUnknownSetting,
        "'{0}' has no input '{1}' to set, and the value of a size must be a number, got '{2}'",
        model.name(), name, text);
  }
  import->fixed_sizes[name] = size;
  return llvm::Error::success();
}

/// Larger weights are written to a separate file: a protobuf message is limited to 2 GiB.
constexpr int64_t kMaxInModel = int64_t{1} << 30;

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

/// `what` names the model in messages.
llvm::Expected<std::string> Serialize(const Network& network, const OnnxExportOptions& options,
                                      const std::string& what) {
  llvm::Expected<onnx::ModelProto> model = ExportOnnx(network.graph(), GlobalRegistry(), options);
  if (!model) return model.takeError();
  std::string bytes;
  if (!model->SerializeToString(&bytes))
    return MakeUserError(Code::kBadFile, "{0} would be larger than 2 GiB", what);
  return bytes;
}

}  // namespace

llvm::Expected<ImportedModel> ImportOnnxFile(
    const InputFile& file, llvm::ArrayRef<std::pair<std::string, std::string>> settings,
    const std::function<std::string(llvm::StringRef)>& setting_place) {
  llvm::Expected<OnnxModel> model =
      file.bytes ? OnnxModel::Parse(file.bytes->getBuffer(), file.name, file.folder)
                 : OnnxModel::Read(file.name);
  if (!model) return model.takeError();
  ImportOptions import;
  import.weight_file = (llvm::sys::path::stem(file.name) + ".safetensors").str();
  auto place = [&](const std::string& name) {
    return setting_place ? setting_place(name) : "--set " + name;
  };
  for (const auto& [name, text] : settings)
    if (llvm::Error error = AddSetting(*model, name, text, place(name), &import)) return error;
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model, import);
  if (imported) return imported;
  return llvm::handleErrors(imported.takeError(), [&](const UnknownInputs& unknown) {
    std::string help;
    for (const std::string& name : unknown.names()) help += " " + place(name) + "=...";
    return MakeUserError(unknown.code(), "{0}:{1}", unknown.text(), help);
  });
}

llvm::Expected<std::string> SerializeOnnx(const Network& network, llvm::StringRef name) {
  OnnxExportOptions options;
  options.name = name.str();
  options.value = [&](llvm::StringRef variable) { return network.InitialValue(variable); };
  return Serialize(network, options, "the model");
}

llvm::Error WriteOnnxFile(const Network& network, llvm::StringRef path,
                          const llvm::StringMap<Tensor>& states, const OnnxFileOptions& options) {
  DataFile data(path);
  OnnxExportOptions exported;
  exported.name = options.name;
  exported.value = [&](llvm::StringRef name) -> llvm::Expected<Tensor> {
    const auto state = states.find(name);
    return state == states.end() ? network.InitialValue(name) : state->second;
  };
  if (options.external_data || WeightBytes(network.graph()) >= kMaxInModel)
    exported.store = [&](const Constant& bytes, onnx::TensorProto* tensor) {
      return data.Store(bytes, tensor);
    };
  llvm::Expected<std::string> bytes = Serialize(network, exported, "'" + path.str() + "'");
  if (!bytes) return bytes.takeError();
  // If the disk is full, the old model and its weights stay.
  llvm::Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file) return file.takeError();
  if (llvm::Error error = file->Write(*bytes)) return error;
  if (llvm::Error error = data.Commit()) return error;
  return file->Commit();
}

}  // namespace pdl
