#include "llvm/Support/Path.h"
#include "pdl/compiler/serialize.h"
#include "pdl/runtime/network.h"
#include "runtime/io/file.h"

namespace pdl {

llvm::Expected<std::shared_ptr<const Network>> Network::Load(llvm::StringRef path,
                                                             NetworkOptions options,
                                                             const OpRegistry& registry) {
  llvm::Expected<SharedBytes> file = ReadWholeFile(path);
  if (!file) return file.takeError();
  llvm::Expected<Graph> graph = DeserializeNetwork(file->bytes, path, registry);
  if (!graph) return graph.takeError();
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  options.weight_folder = folder.empty() ? "." : folder.str();
  return Create(std::move(*graph), std::move(options), registry);
}

}  // namespace pdl
