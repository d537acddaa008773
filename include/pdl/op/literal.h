#ifndef PDL_OP_LITERAL_H_
#define PDL_OP_LITERAL_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/dtype.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Whether `text` looks like a number, a bool or a list of them, rather than a file name.
PDL_API bool LooksLikeLiteral(llvm::StringRef text);

/// Parses a literal such as `3.5`, `[1, 2]` or `[[true], [false]]` as a tensor of that dtype.
/// Returns a UserError if it is not a literal, its rows differ in length, or a number does not fit
/// the dtype.
PDL_API llvm::Expected<Tensor> ParseLiteral(llvm::StringRef text, DType dtype);

}  // namespace pdl

#endif  // PDL_OP_LITERAL_H_
