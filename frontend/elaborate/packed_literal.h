#ifndef PDL_FRONTEND_ELABORATE_PACKED_LITERAL_H_
#define PDL_FRONTEND_ELABORATE_PACKED_LITERAL_H_

#include "frontend/elaborate/datum.h"
#include "llvm/Support/Error.h"
#include "pdl/op/storage.h"

namespace pdl {

/// Reads a literal as a value of a ragged or sparse `type`. The rows of a ragged type are lists of
/// any length, `[[1, 2, 3], [4]]`; those of a sparse type have equal lengths, and elements other
/// than 0 (or false) are stored. Returns an Error (a plain message) if the literal does not fit.
llvm::Expected<PackedConstant> ToPacked(const Datum& literal, const Type& type);

/// The number of ragged dims of a literal: nested lists are dense down to the innermost level at
/// which lengths differ.
unsigned RaggedLevels(const Datum& literal);
/// The type of a literal with ragged dims.
Type RaggedType(const Datum& literal, DType dtype);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_PACKED_LITERAL_H_
