#ifndef PDL_OP_OP_DOCS_H_
#define PDL_OP_OP_DOCS_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/layer_def.h"
#include "pdl/op/op_def.h"
#include "pdl/op/op_registry.h"

// Documentation of operators and layers, generated from their declarations. For protobuf messages
// and JSON see "pdl/compiler/serialize.h".

namespace pdl {

/// The signature as a call: "cos(x, scale: float > 0 = 1.0) -> y".
PDL_API std::string OpCallToString(const OpSignature& signature);

/// The complete documentation of one operator, for a terminal of `width` columns.
PDL_API std::string OpDocText(const OpDef& def, unsigned width = 80);

/// One line for each operator: its name and the first sentence of its comment, truncated to
/// `width`.
PDL_API std::string OpListText(const OpRegistry& registry, unsigned width = 80);

/// The complete documentation of all operators, for a terminal and as Markdown.
PDL_API std::string OpDocsText(const OpRegistry& registry, unsigned width = 80);
PDL_API std::string OpDocsMarkdown(const OpRegistry& registry);

// As above, for layers.

PDL_API std::string LayerCallToString(const LayerSignature& layer);
PDL_API std::string LayerDocText(const LayerSignature& layer, unsigned width = 80);
PDL_API std::string LayerListText(llvm::ArrayRef<LayerSignature> layers, unsigned width = 80);
PDL_API std::string LayerDocsMarkdown(llvm::ArrayRef<LayerSignature> layers);

}  // namespace pdl

#endif  // PDL_OP_OP_DOCS_H_
