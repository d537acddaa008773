#ifndef PDL_COMPILER_DESCRIBE_LAYERS_H_
#define PDL_COMPILER_DESCRIBE_LAYERS_H_

#include <memory>
#include <vector>

#include "pdl/compiler/compiler.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/layer_def.h"

namespace pdl {

/// What the layers of a library declare, by name. Safe to call from several threads.
PDL_API std::vector<LayerSignature> DescribeLayers(const LayerLibrary& library);

/// What the layers of a text declare, in its order; syntax errors go to `diagnostics`. Nothing but
/// the text itself is read.
PDL_API std::vector<LayerSignature> DescribeLayers(const std::shared_ptr<const SourceFile>& file,
                                                   Diagnostics* diagnostics);

/// What a text declares where it is called as a layer of that name: its inputs, attrs and outputs.
PDL_API LayerSignature DescribeNetwork(const std::shared_ptr<const SourceFile>& file,
                                       llvm::StringRef name, Diagnostics* diagnostics);

}  // namespace pdl

#endif  // PDL_COMPILER_DESCRIBE_LAYERS_H_
