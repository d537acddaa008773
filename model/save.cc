#include <vector>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "model/onnx_file.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/io.h"

namespace pdl {

llvm::Error SaveNetwork(const Network& network, llvm::StringRef path,
                        const llvm::StringMap<Tensor>& states) {
  if (llvm::sys::path::extension(path) == ".onnx") {
    OnnxFileOptions options;
    const llvm::StringRef stem = llvm::sys::path::stem(path);
    if (!stem.empty()) options.name = stem.str();
    return WriteOnnxFile(network, path, states, options);
  }
  Graph graph = network.graph().Clone();
  llvm::SmallString<128> weights_path(path);
  llvm::sys::path::replace_extension(weights_path, ".safetensors");
  const std::string file = llvm::sys::path::filename(weights_path).str();
  std::vector<NamedTensor> tensors;
  for (Value* variable : Variables(graph)) {
    const auto state = states.find(variable->name());
    if (variable->kind() == ValueKind::kState && state == states.end()) continue;
    llvm::Expected<Tensor> value =
        state != states.end() ? state->second : network.InitialValue(variable->name());
    if (!value) return value.takeError();
    variable->variable().LoadFrom({file, variable->name(), Sha256(value->ToConstant())});
    tensors.emplace_back(variable->name(), std::move(*value));
  }
  if (!tensors.empty())
    if (llvm::Error error = WriteSafetensors(weights_path, tensors)) return error;
  if (llvm::sys::path::extension(path) == ".pdl") return WriteFileAtomically(path, EmitPdl(graph));
  llvm::Expected<std::string> bytes = SerializeNetwork(graph);
  if (!bytes) return bytes.takeError();
  return WriteFileAtomically(path, *bytes);
}

}  // namespace pdl
