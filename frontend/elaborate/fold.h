#ifndef PDL_FRONTEND_ELABORATE_FOLD_H_
#define PDL_FRONTEND_ELABORATE_FOLD_H_

#include <vector>

#include "frontend/elaborate/datum.h"
#include "frontend/syntax/ast.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/constraints.h"

namespace pdl {

/// Arithmetic, comparison and logic of constants and sizes, done while compiling. Integers have 64
/// bits, `/` gives a real number, `//` and `%` round down. An Error (plain text) where the operator
/// does not take such values, an integer leaves 64 bits, something is divided by 0, or a comparison
/// of sizes is undecided. Neither side holds a tensor or poison.
llvm::Expected<Datum> FoldInfix(ast::Operator op, const Datum& left, const Datum& right);
llvm::Expected<Datum> FoldPrefix(ast::Operator op, const Datum& operand);

/// Why an operator does not take these sizes: one is a ragged dim, which has no order and no
/// arithmetic. Empty where it does.
std::string NotComparable(ast::Operator op, const Dim& a, const Dim& b);

/// The relation that a comparison states; its message is the relation in words. Requires a
/// comparison operator.
DimCheck MakeCheck(ast::Operator op, const Dim& left, const Dim& right);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_FOLD_H_
