#ifndef PDL_FRONTEND_SYNTAX_AST_WALK_H_
#define PDL_FRONTEND_SYNTAX_AST_WALK_H_

#include "frontend/syntax/ast.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace pdl {

/// Appends the direct subexpressions of an expression, the callee of a call first.
void AddSubexpressions(const ast::Expr* expr, llvm::SmallVectorImpl<const ast::Expr*>* parts);

/// Calls `visit` with the expression and all of its subexpressions, outer ones first. `root` may be
/// null.
void ForEachSubexpression(const ast::Expr* root, llvm::function_ref<void(const ast::Expr*)> visit);

/// Calls `visit` with each complete expression of the statement, including those of dims in types,
/// but not with those of the statements in its blocks.
void ForEachExpression(const ast::Statement& statement,
                       llvm::function_ref<void(const ast::Expr*)> visit);

/// The blocks of the statement: branches, or the body of a loop, a layer or a test.
llvm::SmallVector<const ast::Block*, 2> BlocksOf(const ast::Statement& statement);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_AST_WALK_H_
