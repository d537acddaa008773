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

/// Returns a DeviceError: "out of memory while DOING".
PDL_API llvm::Error OutOfMemory(llvm::StringRef doing);

/// Returns the result of `f`, an Error or an Expected, or OutOfMemory if `f` runs out of memory.
/// Inside libpdl an allocation failure is an exception, so that containers need no checks. Each
/// public function that may allocate much memory converts the exception with this function.
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
