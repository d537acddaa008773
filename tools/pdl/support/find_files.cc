#include "tools/pdl/support/find_files.h"

#include <algorithm>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

namespace fs = llvm::sys::fs;

/// Whether an entry of a folder is a regular file or a link to one.
bool IsFile(const fs::directory_entry& entry) {
  if (entry.type() != fs::file_type::symlink_file)
    return entry.type() == fs::file_type::regular_file;
  return fs::is_regular_file(entry.path());
}

llvm::Error FindFilesAt(llvm::StringRef path, std::vector<std::string>* files) {
  if (path == "-" || !fs::is_directory(path)) {
    files->push_back(path.str());
    return llvm::Error::success();
  }
  std::vector<std::string> found;
  std::error_code code;
  fs::recursive_directory_iterator entry(path, code, /*follow_symlinks=*/false);
  for (fs::recursive_directory_iterator end; entry != end && !code; entry.increment(code)) {
    const llvm::StringRef name = llvm::sys::path::filename(entry->path());
    if (entry->type() == fs::file_type::directory_file) {
      if (name.starts_with(".")) entry.no_push();
    } else if (name.ends_with(".pdl") && IsFile(*entry)) {
      found.push_back(entry->path());
    }
  }
  if (code) return MakeUserError(Code::kBadFile, "cannot read '{0}': {1}", path, code.message());
  std::sort(found.begin(), found.end());
  files->insert(files->end(), found.begin(), found.end());
  return llvm::Error::success();
}

}  // namespace

llvm::Error FindFiles(llvm::ArrayRef<llvm::StringRef> paths, std::vector<std::string>* files) {
  llvm::Error errors = llvm::Error::success();
  for (llvm::StringRef path : paths)
    errors = llvm::joinErrors(std::move(errors), FindFilesAt(path, files));
  if (errors || !files->empty()) return errors;
  return MakeUserError(Code::kBadFile, "there is no .pdl file in '{0}'",
                       llvm::join(paths, "' or '"));
}

}  // namespace pdl
