#include "tools/pdl/onnx_network.h"

#include "llvm/Support/Path.h"
#include "pdl/error.h"
#include "pdl/io.h"
#include "tools/pdl/literal.h"

namespace pdl {
namespace {

llvm::Expected<Constant> ReadSetting(const OnnxModel& model, llvm::StringRef name,
                                     llvm::StringRef text) {
  if (text.ends_with(".npy")) {
    llvm::Expected<Tensor> tensor = ReadNpy(text);
    if (!tensor) return tensor.takeError();
    return tensor->ToConstant();
  }
  for (const onnx::ValueInfoProto& input : model.proto().graph().input()) {
    if (input.name() != name) continue;
    llvm::Expected<DType> dtype = DTypeFromOnnx(input.type().tensor_type().elem_type());
    if (!dtype) return dtype.takeError();
    llvm::Expected<Tensor> tensor = ParseLiteral(text, *dtype);
    if (!tensor) return tensor.takeError();
    return tensor->ToConstant();
  }
  return MakeUserError(Code::kUnknownSetting, "'{0}' has no input '{1}' to be set", model.name(),
                       name);
}

}  // namespace

llvm::Expected<ImportedModel> ImportOnnxFile(llvm::StringRef path, const CommonOptions& options) {
  llvm::Expected<OnnxModel> model = OnnxModel::Read(path);
  if (!model) return model.takeError();
  ImportOptions import;
  import.weight_file = (llvm::sys::path::stem(path) + ".safetensors").str();
  for (const auto& [name, text] : options.settings) {
    llvm::Expected<Constant> value = ReadSetting(*model, name, text);
    if (!value) return value.takeError();
    import.fixed_inputs[name] = std::move(*value);
  }
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model, import);
  if (imported) return imported;
  return llvm::handleErrors(imported.takeError(), [](const UnknownInputs& unknown) {
    std::string help;
    for (const std::string& name : unknown.names()) help += " --set " + name + "=...";
    return MakeUserError(unknown.code(), "{0}:{1}", unknown.text(), help);
  });
}

}  // namespace pdl
