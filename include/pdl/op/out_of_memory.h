// Module: ir
#ifndef PDL_OP_OUT_OF_MEMORY_H_
#define PDL_OP_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>
#include <type_traits>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// A DeviceError: "out of memory while DOING".
PDL_API llvm::Error OutOfMemory(llvm::StringRef doing);

/// What `f` returns, an Error or an Expected; OutOfMemory where it runs out of memory on its way.
/// Inside of libpdl memory that is missing is an exception, so that no container has to be asked
/// each time; each function that a program calls, and that may take much memory, ends it so.
template <class F>
std::invoke_result_t<F> WithOutOfMemory(llvm::StringRef doing, F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than a container can ever hold
  }
  return OutOfMemory(doing);
}

}  // namespace pdl

#endif  // PDL_OP_OUT_OF_MEMORY_H_
