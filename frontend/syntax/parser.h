#ifndef PDL_FRONTEND_SYNTAX_PARSER_H_
#define PDL_FRONTEND_SYNTAX_PARSER_H_

#include <memory>

#include "frontend/syntax/ast.h"
#include "pdl/compiler/diagnostic.h"

namespace pdl {

/// Parses source. Each top-level statement is parsed individually: one with a syntax error results
/// in one diagnostic and a BrokenStatement, and does not affect the others. Source that is not
/// UTF-8 or longer than SourceFile::kMaxSize results in one diagnostic and no statements.
std::unique_ptr<Ast> Parse(const std::shared_ptr<const SourceFile>& file, Diagnostics* diagnostics);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_PARSER_H_
