#ifndef PDL_FRONTEND_ELABORATE_SUGAR_H_
#define PDL_FRONTEND_ELABORATE_SUGAR_H_

#include "frontend/syntax/ast.h"
#include "llvm/ADT/StringRef.h"

/// The operators behind the language's signs: the one place in the front end that names any.
namespace pdl::sugar {

/// What an operator sign between (or before) tensors calls; empty where it takes no tensors.
llvm::StringRef OperatorFor(ast::Operator op);

/// A literal becomes `constant(value, dtype=…)`: a tensor attribute given by position.
inline constexpr llvm::StringLiteral kConstant = "constant";

/// A symbol among tensors becomes `size([N], dtype=…)`: a scalar that is known when a run is.
inline constexpr llvm::StringLiteral kSize = "size";

/// `x[a:b:c, …]` becomes `slice(x, axes=…, starts=…, stops=…, steps=…)`: each list has one entry an
/// axis that is cut.
inline constexpr llvm::StringLiteral kSlice = "slice";
inline constexpr llvm::StringLiteral kSliceAxes = "axes";
inline constexpr llvm::StringLiteral kSliceStarts = "starts";
inline constexpr llvm::StringLiteral kSliceStops = "stops";
inline constexpr llvm::StringLiteral kSliceSteps = "steps";
/// Where c is negative, `flip(…, axes=…)` follows.
inline constexpr llvm::StringLiteral kFlip = "flip";
inline constexpr llvm::StringLiteral kFlipAxes = "axes";
inline constexpr llvm::StringLiteral kSequenceAt = "sequence_at";
inline constexpr llvm::StringLiteral kSequenceAtPlace = "at";

/// `[[1, 2, 3], [4]]` is `ragged([1, 2, 3, 4], [3, 1])`.
inline constexpr llvm::StringLiteral kRagged = "ragged";

/// An index or `none` in a subscript changes the rank: `reshape(x, [dims])`.
inline constexpr llvm::StringLiteral kReshape = "reshape";

/// `index @ table` is `gather(table, index)`.
inline constexpr llvm::StringLiteral kTakeRows = "gather";

/// An initializer gets its dims from the declared type through the attribute of this name.
inline constexpr llvm::StringLiteral kDims = "dims";

/// `training` is `training()`; `step` is a state that begins with `zeros()`.
inline constexpr llvm::StringLiteral kTraining = "training";
inline constexpr llvm::StringLiteral kFirstStep = "zeros";

/// `grad(loss, x)` is `gradient(loss, 1.0, x)`, and of a list it has a result for each.
inline constexpr llvm::StringLiteral kGradient = "gradient";
inline constexpr llvm::StringLiteral kGradientCount = "count";
inline constexpr llvm::StringLiteral kLazyRows = "lazy_rows";
inline constexpr llvm::StringLiteral kCast = "cast";
inline constexpr llvm::StringLiteral kCastTo = "to";

/// What an `if` that a Plan decides leaves behind: `plan_select(condition, then, otherwise)`.
inline constexpr llvm::StringLiteral kPlanSelect = "plan_select";

}  // namespace pdl::sugar

#endif  // PDL_FRONTEND_ELABORATE_SUGAR_H_
