#ifndef PDL_TOOLS_PDL_SUPPORT_FOLDER_LOCK_H_
#define PDL_TOOLS_PDL_SUPPORT_FOLDER_LOCK_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// Prevents two processes from writing to the same folder: a lock on the file `.lock` in it, which
/// the system releases when the process ends in any way.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Returns an Error if another process has the lock. Does nothing if the folder does not exist or
  /// cannot be locked (it is read-only, or its file system has no locks).
  llvm::Error Take(llvm::StringRef folder);

 private:
  int file_ = -1;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_FOLDER_LOCK_H_
