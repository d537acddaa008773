#ifndef PDL_TOOLS_PDL_SUPPORT_FOLDER_LOCK_H_
#define PDL_TOOLS_PDL_SUPPORT_FOLDER_LOCK_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// Keeps a second process from writing to a folder: a lock on the file `.lock` in it, which the
/// system gives up when the process ends, however it ends.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// An Error where another process has it. Where the folder is not there, or cannot be locked (it
  /// may not be written, its file system has no locks), nothing happens.
  llvm::Error Take(llvm::StringRef folder);

 private:
  int file_ = -1;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_FOLDER_LOCK_H_
