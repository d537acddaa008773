// One array in NumPy's format, wherever its bytes lie.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef PDL_RUNTIME_IO_NPY_H_
#define PDL_RUNTIME_IO_NPY_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/tensor.h"
#include "runtime/io/file.h"

namespace pdl {

/// The array that `file` is, from its first byte to its last. `path` is for messages.
llvm::Expected<Tensor> ParseNpy(llvm::StringRef path, const SharedBytes& file);

/// Whether the array has elements of text, which no tensor has. Looks at the header alone.
bool HoldsText(llvm::StringRef bytes);

/// What stands before the elements of `tensor`; a multiple of 64 bytes. `path` is for messages.
llvm::Expected<std::string> NpyHeader(llvm::StringRef path, const Tensor& tensor);

/// Element types whose bytes are checked: a bool that is neither 0 nor 1 is in no file of ours, and
/// undefined behaviour in a program. Index of the first such byte, or -1.
int64_t FindBadBool(llvm::StringRef bytes);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_NPY_H_
