#ifndef PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_
#define PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// Finds the source files (.pdl) for a path of the command line: the file itself, or all files in a
/// folder and its subfolders, sorted by name; hidden folders are skipped.
llvm::Error FindFiles(llvm::StringRef path, std::vector<std::string>* files);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_
