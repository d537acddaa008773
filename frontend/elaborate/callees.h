#ifndef PDL_FRONTEND_ELABORATE_CALLEES_H_
#define PDL_FRONTEND_ELABORATE_CALLEES_H_

#include "frontend/syntax/ast.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace pdl {

/// Calls `visit` with the name before each '(' in the statements, including nested blocks.
void ForEachCallee(llvm::ArrayRef<const ast::Statement*> statements,
                   llvm::function_ref<void(const ast::NameExpr&)> visit);

/// Whether the expression contains a name other than before a '('.
bool MentionsNames(const ast::Expr* expr);

/// Collects names that statements may give to instances of layers and functions, including nested
/// blocks.
void CollectInstances(llvm::ArrayRef<const ast::Statement*> statements, llvm::StringSet<>* names);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_CALLEES_H_
