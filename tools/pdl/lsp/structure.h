#ifndef PDL_TOOLS_PDL_LSP_STRUCTURE_H_
#define PDL_TOOLS_PDL_LSP_STRUCTURE_H_

#include <vector>

#include "llvm/Support/JSON.h"
#include "pdl/compiler/analysis.h"
#include "tools/pdl/lsp/documents.h"

// The structure of a document in the protocol's form.

namespace pdl::lsp {

/// The names of the kinds of semantic tokens.
llvm::json::Value SemanticTokensLegend();
/// The tokens in the range, as five numbers each.
llvm::json::Value SemanticTokens(const Document& document, Encoding encoding, SourceRange range);
/// Writes the outline, as a tree or as a list. A json::Value of it would take 4 KB for each object,
/// of which an outline has thousands.
void WriteDocumentSymbols(const Document& document, bool as_tree, llvm::json::OStream& out);
llvm::json::Value FoldingRanges(const Document& document);
/// A lens that runs the test for each test of the document.
llvm::json::Value CodeLenses(const Document& document);

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_STRUCTURE_H_
