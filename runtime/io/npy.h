// Arrays in NumPy's format, in memory.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef PDL_RUNTIME_IO_NPY_H_
#define PDL_RUNTIME_IO_NPY_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/tensor.h"
#include "runtime/io/file.h"

namespace pdl {

/// The maximum number of dims of a tensor in a file.
inline constexpr size_t kMaxFileRank = 64;

/// Parses `file`, which must be exactly one array. `path` is for messages.
llvm::Expected<Tensor> ParseNpy(llvm::StringRef path, const SharedBytes& file);

/// Whether the array has strings as elements, which tensors do not support. Reads the header only.
bool HoldsText(llvm::StringRef bytes);

/// The string of an array with a single one, of NumPy's dtype S (bytes); empty for other arrays.
llvm::StringRef TextOf(llvm::StringRef bytes);

/// The header of `tensor`, whose size is a multiple of 64 bytes. `path` is for messages.
PDL_API llvm::Expected<std::string> NpyHeader(llvm::StringRef path, const Tensor& tensor);

/// Checks the bytes of bools: values other than 0 and 1 would be undefined behavior in a program.
/// Returns the index of the first such byte, or -1.
int64_t FindBadBool(llvm::StringRef bytes);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_NPY_H_
