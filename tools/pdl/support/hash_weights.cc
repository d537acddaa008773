#include "tools/pdl/support/hash_weights.h"

namespace pdl {

void HashWeights(LoadedNetwork& network) {
  WeightFiles files(network.folder);
  for (Value* value : Variables(network.graph)) {
    std::optional<WeightRef>& weight = value->variable().weight;
    if (!weight || !weight->sha256.empty()) continue;
    llvm::Expected<WeightFiles::Found> found = files.Find(weight->file, weight->tensor);
    if (!found) {
      llvm::consumeError(found.takeError());
      continue;
    }
    weight->sha256 = Sha256(found->file->Read(*found->entry));
  }
}

}  // namespace pdl
