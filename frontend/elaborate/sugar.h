#ifndef PDL_FRONTEND_ELABORATE_SUGAR_H_
#define PDL_FRONTEND_ELABORATE_SUGAR_H_

#include "frontend/syntax/ast.h"
#include "llvm/ADT/StringRef.h"

/// The operators that the syntax of the language calls: the only ones that the front end refers to
/// by name.
namespace pdl::sugar {

/// The operator for a symbol between (or before) tensors; empty if it does not take tensors.
llvm::StringRef OperatorFor(ast::Operator op);

/// A literal becomes `constant(value, dtype=…)`: a tensor attribute given by position.
inline constexpr llvm::StringLiteral kConstant = "constant";

/// A symbol among tensors becomes `size([N], dtype=…)`: a scalar known when a run begins.
inline constexpr llvm::StringLiteral kSize = "size";

/// `x[a:b:c, …]` becomes `slice(x, axes=…, starts=…, stops=…, steps=…)`: each list has one entry
/// per sliced axis.
inline constexpr llvm::StringLiteral kSlice = "slice";
inline constexpr llvm::StringLiteral kSliceAxes = "axes";
inline constexpr llvm::StringLiteral kSliceStarts = "starts";
inline constexpr llvm::StringLiteral kSliceStops = "stops";
inline constexpr llvm::StringLiteral kSliceSteps = "steps";
/// If c is negative, `flip(…, axes=…)` follows.
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

/// An initializer gets its dims from the declared type through this attribute.
inline constexpr llvm::StringLiteral kDims = "dims";

/// `training` is `training()`; `step` is a state that begins with `zeros()`.
inline constexpr llvm::StringLiteral kTraining = "training";
inline constexpr llvm::StringLiteral kFirstStep = "zeros";

/// `grad(loss, x)` is `gradient(loss, 1.0, x)`; for a list it has one result per item.
inline constexpr llvm::StringLiteral kGradient = "gradient";
inline constexpr llvm::StringLiteral kGradientCount = "count";
inline constexpr llvm::StringLiteral kLazyRows = "lazy_rows";
inline constexpr llvm::StringLiteral kCast = "cast";
inline constexpr llvm::StringLiteral kCastTo = "to";

/// `assert condition, "message"` on values of the data becomes `assert_true(condition, message=…)`;
/// a declaration with a range becomes `check_index(x, below=…)` if the range of x is not known.
inline constexpr llvm::StringLiteral kAssert = "assert_true";
inline constexpr llvm::StringLiteral kAssertMessage = "message";
inline constexpr llvm::StringLiteral kAll = "all";
inline constexpr llvm::StringLiteral kCheckIndex = "check_index";
inline constexpr llvm::StringLiteral kCheckIndexBelow = "below";

/// An `if` that a Plan decides becomes `plan_select(condition, then, otherwise)`.
inline constexpr llvm::StringLiteral kPlanSelect = "plan_select";

}  // namespace pdl::sugar

#endif  // PDL_FRONTEND_ELABORATE_SUGAR_H_
