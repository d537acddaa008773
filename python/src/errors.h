// Conversion of llvm::Error and diagnostics to the exceptions of pdl/errors.py.
#ifndef PYTHON_SRC_ERRORS_H_
#define PYTHON_SRC_ERRORS_H_

#include <utility>

#include "llvm/Support/Error.h"
#include "pdl/compiler/diagnostic.h"

namespace pdl::python {

/// Whether messages show positions and lines of the source. They do not if the package generated
/// it.
enum class Positions : bool { kHidden, kShown };

/// Throws the exception of pdl.errors for `error`. Needs the GIL.
[[noreturn]] void Raise(llvm::Error error, Positions positions = Positions::kShown);
/// Throws the exception for errors in source; there must be at least one. Needs the GIL.
[[noreturn]] void Raise(const Diagnostics& diagnostics, Positions positions = Positions::kShown);

inline void Check(llvm::Error error, Positions positions = Positions::kShown) {
  if (error) Raise(std::move(error), positions);
}
template <typename T>
T Get(llvm::Expected<T> expected) {
  if (!expected) Raise(expected.takeError());
  return std::move(*expected);
}

}  // namespace pdl::python

#endif  // PYTHON_SRC_ERRORS_H_
