// Sparse matrices in files that SciPy's save_npz has written.
// https://docs.scipy.org/doc/scipy/reference/generated/scipy.sparse.save_npz.html
#ifndef PDL_RUNTIME_IO_SCIPY_H_
#define PDL_RUNTIME_IO_SCIPY_H_

#include <cstdint>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// A matrix in CSR format. The elements of row i are values[offsets[i]..offsets[i + 1]], in the
/// columns indices[offsets[i]..offsets[i + 1]].
struct SciPyMatrix {
  /// One-dimensional, of i32 or i64: the number of offsets is that of the rows plus 1. Their values
  /// are not checked.
  Tensor offsets, indices;
  /// One-dimensional.
  Tensor values;
  int64_t columns = 0;
};

/// Reads the matrix of a file. Errors: Code::kBadFile, if it cannot be read, is in another format
/// such as CSC, or its arrays do not match its shape.
PDL_API llvm::Expected<SciPyMatrix> ReadSciPyMatrix(llvm::StringRef path);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_SCIPY_H_
