#ifndef PDL_FRONTEND_ELABORATE_CONSTANT_EXPRESSIONS_H_
#define PDL_FRONTEND_ELABORATE_CONSTANT_EXPRESSIONS_H_

#include <optional>

#include "frontend/elaborate/datum.h"
#include "frontend/syntax/ast.h"

namespace pdl {

/// The value of an expression of literals and operators, such as `2 ** 3` or `[1, -2]`, without
/// elaborating the source it is in; nullopt if it has names, calls or records, or is invalid.
std::optional<Datum> EvaluateConstant(const ast::Expr* expr);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_CONSTANT_EXPRESSIONS_H_
