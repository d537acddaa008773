#ifndef PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_
#define PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// The texts (.pdl) that a path of the command line stands for: the file itself, or all of a folder
/// and the folders in it, in the order of their names; hidden folders are left out.
llvm::Error FindFiles(llvm::StringRef path, std::vector<std::string>* files);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_FIND_FILES_H_
