#ifndef PDL_FRONTEND_ELABORATE_FOLD_H_
#define PDL_FRONTEND_ELABORATE_FOLD_H_

#include <vector>

#include "frontend/elaborate/datum.h"
#include "frontend/syntax/ast.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/constraints.h"

namespace pdl {

/// Constant folding of arithmetic, comparison and logic on constants and sizes. Integers have 64
/// bits, `/` returns a real number, `//` and `%` round down. Returns an Error (a plain message) if
/// the operator does not take such values, an integer overflows 64 bits, a division is by 0, or a
/// comparison of sizes is undecided. Neither side contains a tensor or poison.
llvm::Expected<Datum> FoldInfix(ast::Operator op, const Datum& left, const Datum& right);
llvm::Expected<Datum> FoldPrefix(ast::Operator op, const Datum& operand);

/// Why an operator does not take these sizes: one is a ragged dim, which has neither order nor
/// arithmetic. Empty if it does.
std::string NotComparable(ast::Operator op, const Dim& a, const Dim& b);

/// The relation that a comparison states, with the comparison as its message. Requires a comparison
/// operator.
DimCheck MakeCheck(ast::Operator op, const Dim& left, const Dim& right);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_FOLD_H_
