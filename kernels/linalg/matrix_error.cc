#include "kernels/linalg/matrix_error.h"

#include <string>

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"

namespace pdl::linalg {

llvm::Error MatrixError(llvm::StringRef operand, llvm::ArrayRef<int64_t> batch, int64_t matrix,
                        llvm::StringRef problem) {
  if (batch.empty()) return MakeUserError(Code::kAssertion, "'{0}' {1}", operand, problem);
  std::string index;
  for (const int64_t size : llvm::reverse(batch)) {
    index = std::to_string(matrix % size) + (index.empty() ? "" : ", ") + index;
    matrix /= size;
  }
  return MakeUserError(Code::kAssertion, "matrix [{0}] of '{1}' {2}", index, operand, problem);
}

}  // namespace pdl::linalg
