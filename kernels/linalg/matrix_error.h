// The Error about one matrix of a batch, on all devices.
#ifndef PDL_KERNELS_LINALG_MATRIX_ERROR_H_
#define PDL_KERNELS_LINALG_MATRIX_ERROR_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl::linalg {

/// The Error about matrix `matrix` of an operand with these batch dims: "matrix [1, 0] of 'a' is
/// singular".
PDL_API llvm::Error MatrixError(llvm::StringRef operand, llvm::ArrayRef<int64_t> batch,
                                int64_t matrix, llvm::StringRef problem);

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_MATRIX_ERROR_H_
