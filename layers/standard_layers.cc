#include <utility>

#include "layers/texts.inc"
#include "llvm/Support/Error.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/error.h"

namespace pdl {

const std::vector<std::shared_ptr<const SourceFile>>& StandardLayerTexts() {
  // Statics are never destroyed: networks may be compiled while a program ends.
  static const auto& texts = *[] {
    auto* made = new std::vector<std::shared_ptr<const SourceFile>>;
    for (const auto& [name, text] : kLayerTexts)
      made->push_back(std::make_shared<const SourceFile>(name, text));
    return made;
  }();
  return texts;
}

std::shared_ptr<const LayerLibrary> StandardLayers() {
  static const auto& library = *[] {
    llvm::Expected<std::shared_ptr<const LayerLibrary>> parsed =
        LayerLibrary::Parse(StandardLayerTexts());
    if (!parsed) InternalError("the standard layers: " + llvm::toString(parsed.takeError()));
    return new std::shared_ptr<const LayerLibrary>(std::move(*parsed));
  }();
  return library;
}

}  // namespace pdl
