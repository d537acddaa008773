// Files as bytes: mapped for reading, written atomically.
#ifndef PDL_RUNTIME_IO_FILE_H_
#define PDL_RUNTIME_IO_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <system_error>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/error.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Returns the error "cannot read 'x.npy': …".
template <typename... Args>
llvm::Error CannotRead(llvm::StringRef path, const char* format, Args&&... args) {
  return MakeUserError(Code::kBadFile, "cannot read '{0}': {1}", path,
                       llvm::formatv(format, std::forward<Args>(args)...).str());
}
template <typename... Args>
llvm::Error CannotWrite(llvm::StringRef path, const char* format, Args&&... args) {
  return MakeUserError(Code::kBadFile, "cannot write '{0}': {1}", path,
                       llvm::formatv(format, std::forward<Args>(args)...).str());
}
inline llvm::Error CannotWrite(llvm::StringRef path, std::error_code code) {
  return CannotWrite(path, "{0}", code.message());
}

/// Bytes that live as long as `owner` or a copy of it.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  llvm::StringRef bytes;
};

/// Whether there is a file or folder of that name. Fails if that cannot be determined.
PDL_API llvm::Expected<bool> FileExists(llvm::StringRef path);

/// The paths of the files and folders in a folder, sorted.
PDL_API llvm::Expected<std::vector<std::string>> ListFolder(llvm::StringRef path);

/// Fails unless `path` is a regular file or a link to one.
llvm::Error CheckRegularFile(llvm::StringRef path);

/// Whether the bytes of a mapped file may be written.
enum class FileAccess : uint8_t {
  kRead,
  /// They may be written, which never changes the file.
  kPrivateWrite,
};

/// Maps a regular file completely.
llvm::Expected<SharedBytes> ReadWholeFile(llvm::StringRef path,
                                          FileAccess access = FileAccess::kRead);

/// Frees the physical memory of a CPU tensor of at least 64 KiB in a file that was mapped with
/// FileAccess::kRead, and of the bytes around it. They are read from the file again when they are
/// used again.
PDL_API void ReleaseFilePages(const Tensor& tensor);
/// The same for a part of the tensor.
PDL_API void ReleaseFilePages(const Tensor& tensor, int64_t first_byte, int64_t num_bytes);

/// A new file with a temporary name in the folder of `path`, which it replaces at Commit. Without
/// Commit it is removed. If `path` is a pipe or a device, the bytes are written there directly; if
/// it is a link, its target is replaced, or the link with Links::kReplace.
class PDL_API AtomicFile {
 public:
  enum class Links : uint8_t { kFollow, kReplace };
  static llvm::Expected<AtomicFile> Create(llvm::StringRef path, Links links = Links::kFollow);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  llvm::Error Write(const void* data, int64_t size);
  llvm::Error Write(llvm::StringRef bytes) {
    return Write(bytes.data(), static_cast<int64_t>(bytes.size()));
  }
  /// When it returns, the bytes are on disk.
  llvm::Error Commit();

 private:
  AtomicFile(std::string path, std::string target, std::string temporary, int fd);

  std::string path_;       // as given by the caller, for messages
  std::string target_;     // with symlinks resolved
  std::string temporary_;  // empty if the bytes are written to the target directly
  int fd_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_FILE_H_
