// Conversion of llvm::Error and diagnostics to the exceptions of pdl/errors.py.
#ifndef PYTHON_SRC_ERRORS_H_
#define PYTHON_SRC_ERRORS_H_

#include <utility>

#include "llvm/Support/Error.h"
#include "pdl/compiler/diagnostic.h"

namespace pdl::python {

/// Throws the exception of pdl.errors for `error`. Needs the GIL.
[[noreturn]] void Raise(llvm::Error error);
/// Throws the exception for errors in source; there must be at least one. Needs the GIL.
[[noreturn]] void Raise(const Diagnostics& diagnostics);

inline void Check(llvm::Error error) {
  if (error) Raise(std::move(error));
}
template <typename T>
T Get(llvm::Expected<T> expected) {
  if (!expected) Raise(expected.takeError());
  return std::move(*expected);
}

}  // namespace pdl::python

#endif  // PYTHON_SRC_ERRORS_H_
