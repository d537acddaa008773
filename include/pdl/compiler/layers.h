// Module: layers
#ifndef PDL_COMPILER_LAYERS_H_
#define PDL_COMPILER_LAYERS_H_

#include <memory>
#include <vector>

#include "pdl/compiler/compiler.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// The sources of the standard layers, sorted by name: `layers/fc.pdl` and so on.
PDL_API const std::vector<std::shared_ptr<const SourceFile>>& StandardLayerTexts();

/// The standard layers, parsed on the first call. Safe to call from several threads.
PDL_API std::shared_ptr<const LayerLibrary> StandardLayers();

}  // namespace pdl

#endif  // PDL_COMPILER_LAYERS_H_
