#ifndef PDL_COMPILER_DESCRIBE_LAYERS_H_
#define PDL_COMPILER_DESCRIBE_LAYERS_H_

#include <memory>
#include <vector>

#include "pdl/compiler/compiler.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/layer_def.h"

namespace pdl {

/// Returns the signatures of a library's layers, sorted by name. Safe to call from several threads.
PDL_API std::vector<LayerSignature> DescribeLayers(const LayerLibrary& library);

/// Returns the signatures of the layers of a source, in source order. Syntax errors go to
/// `diagnostics`. Reads no other file.
PDL_API std::vector<LayerSignature> DescribeLayers(const std::shared_ptr<const SourceFile>& file,
                                                   Diagnostics* diagnostics);

/// Returns the signature of a source as a layer `name`: its inputs, attrs and outputs. Syntax
/// errors go to `diagnostics`.
PDL_API LayerSignature DescribeNetwork(const std::shared_ptr<const SourceFile>& file,
                                       llvm::StringRef name, Diagnostics* diagnostics);

}  // namespace pdl

#endif  // PDL_COMPILER_DESCRIBE_LAYERS_H_
