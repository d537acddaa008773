#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "model/onnx_file.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/error.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/io.h"

namespace pdl {
namespace {

/// Whether the network in a file, as source or compiled, loads weights from the file of that name
/// in its folder.
bool LoadsFrom(const std::string& network, llvm::StringRef weights) {
  if (!llvm::sys::fs::exists(network)) return false;
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(network, {});
  if (!loaded) return llvm::consumeError(loaded.takeError()), false;
  return llvm::any_of(Variables(loaded->graph), [&](const Value* variable) {
    const std::optional<WeightRef>& weight = variable->variable().weight;
    return weight && weight->file == weights;
  });
}

/// Whether the network in another file may load weights from that file: it does, its source names
/// the file, or it cannot be read now.
bool MayLoadFrom(const std::string& network, llvm::StringRef weights) {
  if (!llvm::sys::fs::exists(network)) return false;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> bytes = ReadFile(network);
  if (!bytes) return llvm::consumeError(bytes.takeError()), true;
  return (*bytes)->getBuffer().contains(weights);
}

/// The file for the weights of the network in `path`. That of another network, or of the user, is
/// not replaced.
std::string WeightsPath(llvm::StringRef path) {
  namespace paths = llvm::sys::path;
  const llvm::StringRef extension = paths::extension(path);
  const std::string of_file = (path + ".safetensors").str();
  if (extension != ".pdl" && extension != ".pdlc") return of_file;
  const std::string stem = path.drop_back(extension.size()).str();
  std::string of_stem = stem + ".safetensors";
  if (!llvm::sys::fs::exists(of_stem)) return of_stem;
  const llvm::StringRef name = paths::filename(of_stem);
  const bool is_shared = MayLoadFrom(stem + (extension == ".pdl" ? ".pdlc" : ".pdl"), name);
  return LoadsFrom(path.str(), name) && !is_shared ? of_stem : of_file;
}

}  // namespace

llvm::Error SaveNetwork(const Network& network, llvm::StringRef path,
                        const llvm::StringMap<Tensor>& states) {
  if (llvm::sys::path::extension(path) == ".onnx") {
    OnnxFileOptions options;
    const llvm::StringRef stem = llvm::sys::path::stem(path);
    if (!stem.empty()) options.name = stem.str();
    return WriteOnnxFile(network, path, states, options);
  }
  Graph graph = network.graph().Clone();
  const std::string weights_path = WeightsPath(path);
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
  // Checks what source refers to, too. Nothing is written before.
  llvm::Expected<std::string> bytes = SerializeNetwork(graph);
  if (!bytes) return bytes.takeError();
  if (llvm::sys::path::extension(path) == ".pdl") *bytes = EmitPdl(graph);
  if (path.empty() || llvm::sys::fs::is_directory(path))
    return MakeUserError(Code::kBadFile, "cannot write '{0}': {1}", path,
                         path.empty() ? "the path is empty" : "it is a folder");
  if (!tensors.empty())
    if (llvm::Error error = WriteSafetensors(weights_path, tensors)) return error;
  return WriteFileAtomically(path, *bytes);
}

}  // namespace pdl
