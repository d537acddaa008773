#ifndef PDL_OP_DOCS_H_
#define PDL_OP_DOCS_H_

#include <string>

#include "pdl/export.h"
#include "pdl/op_def.h"
#include "pdl/op_registry.h"

// Documentation of operators, from what they declare. As messages and as JSON: see
// "pdl/serialize.h".

namespace pdl {

/// How it is called: "cos(x, scale: float > 0 = 1.0) -> y".
PDL_API std::string OpCallToString(const OpSignature& signature);

/// All about one operator, for a terminal of `width` columns.
PDL_API std::string OpDocText(const OpDef& def, unsigned width = 80);

/// A line for each operator: its name and the first sentence of its comment, cut at `width`.
PDL_API std::string OpListText(const OpRegistry& registry, unsigned width = 80);

/// All about all operators, for a terminal and as Markdown.
PDL_API std::string OpDocsText(const OpRegistry& registry, unsigned width = 80);
PDL_API std::string OpDocsMarkdown(const OpRegistry& registry);

}  // namespace pdl

#endif  // PDL_OP_DOCS_H_
