#include "runtime/io/weight_index.h"

#include "llvm/Support/JSON.h"
#include "runtime/io/file.h"
#include "runtime/io/json_outline.h"

namespace pdl {

llvm::Expected<llvm::StringMap<std::string>> ReadWeightIndex(llvm::StringRef path,
                                                             llvm::StringRef bytes) {
  constexpr size_t kMaxBytes = 100'000'000;
  // An index is {"metadata": {"total_size": 1}, "weight_map": {"tensor": "file"}}.
  constexpr unsigned kMaxDepth = 8;
  if (bytes.size() > kMaxBytes)
    return CannotRead(path, "it is too large for an index of weights: {0} bytes", bytes.size());
  const JsonOutline outline = OutlineJson(bytes);
  if (outline.depth > kMaxDepth) return CannotRead(path, "it is nested too deeply");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(bytes);
  if (!json) return CannotRead(path, "it is not JSON: {0}", llvm::toString(json.takeError()));
  const llvm::json::Object* object = json->getAsObject();
  const llvm::json::Object* map = object == nullptr ? nullptr : object->getObject("weight_map");
  if (map == nullptr) {
    return CannotRead(path,
                      "it is not an index of weights: it has no object \"weight_map\" that maps "
                      "names of tensors to files");
  }
  llvm::StringMap<std::string> files;
  for (const auto& [key, value] : *map) {
    const llvm::StringRef tensor = key;
    const std::optional<llvm::StringRef> file = value.getAsString();
    if (!file)
      return CannotRead(path, "the file of \"weight_map\".\"{0}\" is not a string", tensor);
    files[tensor] = file->str();
  }
  // The parser keeps the last of equal names, so the file has more pairs than the object.
  if (OutlineJson(llvm::formatv("{0}", *json).str()).pairs != outline.pairs)
    return CannotRead(path, "it has a name twice");
  return files;
}

}  // namespace pdl
