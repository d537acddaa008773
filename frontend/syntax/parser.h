#ifndef PDL_FRONTEND_SYNTAX_PARSER_H_
#define PDL_FRONTEND_SYNTAX_PARSER_H_

#include <memory>

#include "frontend/syntax/ast.h"
#include "pdl/compiler/diagnostic.h"

namespace pdl {

/// Parses a text. Each top-level statement is parsed by itself, so that one with a syntax error,
/// which gives one diagnostic and a BrokenStatement, leaves the others whole. A text that is not
/// UTF-8 or longer than SourceFile::kMaxSize gives one diagnostic and no statements.
std::unique_ptr<Ast> Parse(const std::shared_ptr<const SourceFile>& file, Diagnostics* diagnostics);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_PARSER_H_
