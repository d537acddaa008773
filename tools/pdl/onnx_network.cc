#include "tools/pdl/onnx_network.h"

#include <map>

#include "llvm/Support/Path.h"
#include "pdl/error.h"
#include "pdl/io.h"
#include "pdl/tensor.h"
#include "tools/pdl/literal.h"

namespace pdl {
namespace {

/// Makes an input a constant, or a size a number.
llvm::Error AddSetting(const OnnxModel& model, const std::string& name, llvm::StringRef text,
                       ImportOptions* import) {
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
    if (!tensor) return tensor.takeError();
    import->fixed_inputs[name] = tensor->ToConstant();
    return llvm::Error::success();
  }
  int64_t size = 0;
  if (text.getAsInteger(10, size) || size < 0) {
    return MakeUserError(Code::kUnknownSetting,
                         "'{0}' has no input '{1}' to be set, and a size of that name would be a "
                         "number, not '{2}'",
                         model.name(), name, text);
  }
  import->fixed_sizes[name] = size;
  return llvm::Error::success();
}

}  // namespace

llvm::Expected<ImportedModel> ImportOnnxFile(llvm::StringRef path, const CommonOptions& options) {
  llvm::Expected<OnnxModel> model = OnnxModel::Read(path);
  if (!model) return model.takeError();
  ImportOptions import;
  import.weight_file = (llvm::sys::path::stem(path) + ".safetensors").str();
  for (const auto& [name, text] : options.settings) {
    if (llvm::Error error = AddSetting(*model, name, text, &import)) return error;
  }
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model, import);
  if (imported) return imported;
  return llvm::handleErrors(imported.takeError(), [](const UnknownInputs& unknown) {
    std::string help;
    for (const std::string& name : unknown.names()) help += " --set " + name + "=...";
    return MakeUserError(unknown.code(), "{0}:{1}", unknown.text(), help);
  });
}

std::vector<std::pair<std::string, std::string>> SizesAsSettings(const Graph& graph,
                                                                 const Scope& fed) {
  std::map<std::string, std::string> sizes;
  for (const Value* input : graph.inputs()) {
    const Variable* variable = fed.Find(input->name());
    const auto* tensor = variable == nullptr ? nullptr : variable->Get<Tensor>();
    if (tensor == nullptr || tensor->rank() != input->type().rank()) continue;
    for (unsigned i = 0; i < tensor->rank(); ++i)
      if (const llvm::StringRef symbol = input->type().dims[i].symbol(); !symbol.empty())
        sizes.try_emplace(symbol.str(), std::to_string(tensor->size(i)));
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace pdl
