#ifndef PDL_TOOLS_PDL_SUPPORT_PACKED_INPUT_H_
#define PDL_TOOLS_PDL_SUPPORT_PACKED_INPUT_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// A ragged or sparse value from a literal: of a ragged type lists of any length in each other,
/// `[[1, 2, 3], [4]]`, of a sparse one a matrix with all its zeros.
llvm::Expected<PackedValue> ParsePackedLiteral(llvm::StringRef text, const Type& type);

/// The same from the arrays of a .npz file: `x` and `x.offsets` (and `x.offsets2`) of a ragged x;
/// what SciPy's `save_npz` writes of a sparse matrix in rows (CSR). `source` names the file.
llvm::Expected<PackedValue> PackedFromArrays(llvm::StringRef name, const Type& type,
                                             llvm::ArrayRef<NamedTensor> arrays,
                                             llvm::StringRef source);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_PACKED_INPUT_H_
