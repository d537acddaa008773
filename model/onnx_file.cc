#include "model/onnx_file.h"

#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/op/literal.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/io.h"

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

}  // namespace

llvm::Expected<ImportedModel> ImportOnnxFile(
    llvm::StringRef path, llvm::ArrayRef<std::pair<std::string, std::string>> settings,
    const std::function<std::string(llvm::StringRef)>& setting_place) {
  llvm::Expected<OnnxModel> model = OnnxModel::Read(path);
  if (!model) return model.takeError();
  ImportOptions import;
  import.weight_file = (llvm::sys::path::stem(path) + ".safetensors").str();
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

}  // namespace pdl
