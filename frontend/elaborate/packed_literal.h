#ifndef PDL_FRONTEND_ELABORATE_PACKED_LITERAL_H_
#define PDL_FRONTEND_ELABORATE_PACKED_LITERAL_H_

#include "frontend/elaborate/datum.h"
#include "llvm/Support/Error.h"
#include "pdl/op/storage.h"

namespace pdl {

/// A literal that is read as a value of a ragged or sparse `type`. Of a ragged type the rows are
/// lists of any length, `[[1, 2, 3], [4]]`; of a sparse one they are as long as each other, and
/// what is not 0 (or is true) is there. The Error (plain text) says what is none.
llvm::Expected<PackedConstant> ToPacked(const Datum& literal, const Type& type);

/// How many ragged dims a literal has: nested lists are dense up to the innermost ones that differ
/// in length from those beside them.
unsigned RaggedLevels(const Datum& literal);
/// The type of a literal with ragged dims.
Type RaggedType(const Datum& literal, DType dtype);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_PACKED_LITERAL_H_
