#ifndef PDL_RUNTIME_IO_WEIGHT_INDEX_H_
#define PDL_RUNTIME_IO_WEIGHT_INDEX_H_

#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// Reads the index of a checkpoint that is split into several files (Hugging Face's
/// model.safetensors.index.json): the file's name for the name of each tensor. Files are not opened
/// and their names are not checked. The Error names `path` and the position in the file.
llvm::Expected<llvm::StringMap<std::string>> ReadWeightIndex(llvm::StringRef path,
                                                             llvm::StringRef bytes);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_WEIGHT_INDEX_H_
