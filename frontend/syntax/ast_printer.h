#ifndef PDL_FRONTEND_SYNTAX_AST_PRINTER_H_
#define PDL_FRONTEND_SYNTAX_AST_PRINTER_H_

#include "frontend/syntax/ast.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {

/// Prints the tree that the user wrote, one node a line, indented by its depth. Without `positions`
/// texts that differ in layout alone give the same.
void PrintAst(const Ast& ast, llvm::raw_ostream& os, bool positions = true);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_AST_PRINTER_H_
