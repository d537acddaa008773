#ifndef PDL_FRONTEND_AST_PRINTER_H_
#define PDL_FRONTEND_AST_PRINTER_H_

#include "frontend/ast.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {

/// Prints the tree that the user wrote, one node a line, indented by its depth.
void PrintAst(const Ast& ast, llvm::raw_ostream& os);

}  // namespace pdl

#endif  // PDL_FRONTEND_AST_PRINTER_H_
