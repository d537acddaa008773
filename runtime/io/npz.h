// Archives of arrays in NumPy's format, read selectively.
#ifndef PDL_RUNTIME_IO_NPZ_H_
#define PDL_RUNTIME_IO_NPZ_H_

#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/io.h"

namespace pdl {

/// Like ReadNpz of pdl/runtime/io.h, but only unpacks arrays for whose name `is_requested` is true;
/// others need not be valid tensors. `names` (may be null) is set to the names of all arrays.
llvm::Expected<std::vector<NamedTensor>> ReadNpz(
    llvm::StringRef path, llvm::function_ref<bool(llvm::StringRef)> is_requested,
    std::vector<std::string>* names);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_NPZ_H_
