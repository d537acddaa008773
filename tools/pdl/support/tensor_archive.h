#ifndef PDL_TOOLS_PDL_SUPPORT_TENSOR_ARCHIVE_H_
#define PDL_TOOLS_PDL_SUPPORT_TENSOR_ARCHIVE_H_

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/io.h"

namespace pdl {

/// Whether a file has several arrays, by its extension: .npz or .safetensors.
bool IsArchive(llvm::StringRef path);
/// Reads all arrays of a file; one that is not .safetensors is read as .npz.
llvm::Expected<std::vector<NamedTensor>> ReadArchive(llvm::StringRef path);
llvm::Error WriteArchive(llvm::StringRef path, llvm::ArrayRef<NamedTensor> arrays);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_TENSOR_ARCHIVE_H_
