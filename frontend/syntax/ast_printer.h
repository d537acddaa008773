#ifndef PDL_FRONTEND_SYNTAX_AST_PRINTER_H_
#define PDL_FRONTEND_SYNTAX_AST_PRINTER_H_

#include "frontend/syntax/ast.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {

/// Prints the syntax tree, one node per line, indented by its depth. Without `positions`, sources
/// that only differ in layout print the same.
void PrintAst(const Ast& ast, llvm::raw_ostream& os, bool positions = true);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_AST_PRINTER_H_
