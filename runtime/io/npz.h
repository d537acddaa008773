// Archives of arrays in NumPy's format, of which not all are wanted.
#ifndef PDL_RUNTIME_IO_NPZ_H_
#define PDL_RUNTIME_IO_NPZ_H_

#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/io.h"

namespace pdl {

/// Like ReadNpz of pdl/runtime/io.h, but only arrays whose name `is_wanted` are unpacked, and must
/// be such that a tensor can hold; `names` (may be null) becomes the names of all.
llvm::Expected<std::vector<NamedTensor>> ReadNpz(
    llvm::StringRef path, llvm::function_ref<bool(llvm::StringRef)> is_wanted,
    std::vector<std::string>* names);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_NPZ_H_
