#ifndef PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_
#define PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// Finds the source files (.pdl) for the paths of a command line: a file itself, or all files in a
/// folder and its subfolders, sorted by name, and links to files; hidden folders, and links to
/// folders, are skipped. An Error if there is no file at all, or if a folder cannot be read;
/// `files` has those of the other folders then.
llvm::Error FindFiles(llvm::ArrayRef<llvm::StringRef> paths, std::vector<std::string>* files);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_
