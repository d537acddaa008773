#include "tools/pdl/support/find_files.h"

#include <algorithm>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"

namespace pdl {

llvm::Error FindFiles(llvm::StringRef path, std::vector<std::string>* files) {
  if (path == "-" || !llvm::sys::fs::is_directory(path)) {
    files->push_back(path.str());
    return llvm::Error::success();
  }
  std::vector<std::string> found;
  std::error_code code;
  llvm::sys::fs::recursive_directory_iterator entry(path, code, /*follow_symlinks=*/false);
  for (llvm::sys::fs::recursive_directory_iterator end; entry != end && !code;
       entry.increment(code)) {
    const llvm::StringRef name = llvm::sys::path::filename(entry->path());
    if (entry->type() == llvm::sys::fs::file_type::directory_file) {
      if (name.starts_with(".")) entry.no_push();
    } else if (name.ends_with(".pdl") && entry->type() == llvm::sys::fs::file_type::regular_file) {
      found.push_back(entry->path());
    }
  }
  if (code) return MakeUserError(Code::kBadFile, "cannot read '{0}': {1}", path, code.message());
  std::sort(found.begin(), found.end());
  files->insert(files->end(), found.begin(), found.end());
  return llvm::Error::success();
}

}  // namespace pdl
