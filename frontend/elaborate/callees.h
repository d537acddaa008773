#ifndef PDL_FRONTEND_ELABORATE_CALLEES_H_
#define PDL_FRONTEND_ELABORATE_CALLEES_H_

#include "frontend/syntax/ast.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace pdl {

/// Calls `visit` with the name in front of each '(' in the statements, blocks included.
void ForEachCallee(llvm::ArrayRef<const ast::Statement*> statements,
                   llvm::function_ref<void(const ast::NameExpr&)> visit);

/// Whether a name stands in the expression other than in front of a '('.
bool MentionsNames(const ast::Expr* expr);

/// Names that statements may give to instances of layers and functions, blocks included.
void CollectInstances(llvm::ArrayRef<const ast::Statement*> statements, llvm::StringSet<>* names);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_CALLEES_H_
