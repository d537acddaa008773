#include "tools/pdl/support/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "pdl/op/error.h"

namespace pdl {

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

llvm::Error FolderLock::Take(llvm::StringRef folder) {
  if (file_ >= 0) return llvm::Error::success();
  const std::string path = folder.str() + "/.lock";
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
  struct stat status;
  if (file_ >= 0 && fstat(file_, &status) == 0 && !S_ISREG(status.st_mode))
    return MakeUserError(Code::kBadFile, "cannot write '{0}': it is not a regular file", path);
  if (file_ < 0 || flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return llvm::Error::success();
  return MakeUserError(Code::kCheckpoint,
                       "'{0}' is in use by another pdl train that is still running: --out uses "
                       "another folder",
                       folder);
}

}  // namespace pdl
