#ifndef PDL_TOOLS_PDL_SUPPORT_PACKED_INPUT_H_
#define PDL_TOOLS_PDL_SUPPORT_PACKED_INPUT_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// Parses a ragged or sparse value: for a ragged type nested lists of any length, `[[1, 2, 3],
/// [4]]`, for a sparse one a matrix with all its zeros.
llvm::Expected<PackedValue> ParsePackedLiteral(llvm::StringRef text, const Type& type);

/// The same from the arrays of an archive, named as by PartsOf: `x` and `x.offsets` (and
/// `x.offsets2`) for a ragged x, also `x.indices` for a sparse one. A sparse matrix may instead be
/// one in CSR form that SciPy's `save_npz` wrote; that file is read again. `source` is the path of
/// the file.
llvm::Expected<PackedValue> PackedFromArrays(llvm::StringRef name, const Type& type,
                                             llvm::ArrayRef<NamedTensor> arrays,
                                             llvm::StringRef source);

/// The same from an archive.
llvm::Expected<PackedValue> ReadPacked(llvm::StringRef name, const Type& type,
                                       llvm::StringRef path);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_PACKED_INPUT_H_
