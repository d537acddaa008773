#include "runtime/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "pdl/op/device_context.h"
#include "pdl/op/out_of_memory.h"
#include "pdl/runtime/io.h"
#include "runtime/memory.h"

namespace pdl {
namespace {

/// Closes the file at the end of its scope.
struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) close(fd);
  }
};

int OpenFile(const std::string& name, int flags) {
  return llvm::sys::RetryAfterSignal(-1, [&] { return open(name.c_str(), flags | O_CLOEXEC); });
}

int SyncFile(int fd) { return llvm::sys::RetryAfterSignal(-1, fsync, fd); }

/// A signal may interrupt `close`, but the file is closed.
bool CloseFile(int fd) { return close(fd) == 0 || errno == EINTR; }

llvm::StringRef KindOfFile(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "a special file";
}

/// Opens a regular file for reading, and returns its size.
llvm::Expected<int> OpenRegularFile(llvm::StringRef path, int64_t* size) {
  if (path.contains('\0')) return CannotRead(path, "its name contains a NUL character");
  const std::string name = path.str();
  // The kind of file is checked before opening it, since opening a device may have side effects,
  // and again afterwards, since the name may refer to another file by then. Without O_NONBLOCK,
  // opening a pipe would wait for a writer.
  if (llvm::Error error = CheckRegularFile(path)) return error;
  const int fd = OpenFile(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat status;
  if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    *size = status.st_size;
    return fd;
  }
  const int code = fd < 0 ? errno : EINVAL;
  if (fd >= 0) close(fd);
  return CannotRead(path, "{0}", std::strerror(code));
}

/// Deletes a mapping. Also identifies the owner of a mapped file.
struct Unmap {
  uintptr_t begin;
  size_t size;
  FileAccess access;
  void operator()(const void* mapping) const { munmap(const_cast<void*>(mapping), size); }
};

}  // namespace

llvm::Expected<bool> FileExists(llvm::StringRef path) {
  struct stat status;
  if (stat(path.str().c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return CannotRead(path, "{0}", std::strerror(errno));
}

llvm::Expected<std::vector<std::string>> ListFolder(llvm::StringRef path) {
  std::vector<std::string> paths;
  std::error_code code;
  do {
    paths.clear();
    for (llvm::sys::fs::directory_iterator entry(path, code), end; !code && entry != end;
         entry.increment(code))
      paths.push_back(entry->path());
  } while (code == std::errc::interrupted);
  if (code == std::errc::not_enough_memory) return OutOfMemory("reading '" + path.str() + "'");
  if (code) return CannotRead(path, "{0}", code.message());
  llvm::sort(paths);
  return paths;
}

llvm::Error CheckRegularFile(llvm::StringRef path) {
  struct stat status;
  if (stat(path.str().c_str(), &status) != 0) return CannotRead(path, "{0}", std::strerror(errno));
  if (S_ISREG(status.st_mode)) return llvm::Error::success();
  if (S_ISDIR(status.st_mode)) return CannotRead(path, "{0}", std::strerror(EISDIR));
  return CannotRead(path, "it is {0}, expected a regular file", KindOfFile(status.st_mode));
}

llvm::Expected<SharedBytes> ReadWholeFile(llvm::StringRef path, FileAccess access) {
  int64_t length = 0;
  llvm::Expected<int> fd = OpenRegularFile(path, &length);
  if (!fd) return fd.takeError();
  FileDescriptor file{*fd};
  if (length == 0) return SharedBytes{nullptr, llvm::StringRef("", 0)};

  const auto size = static_cast<size_t>(length);
  const int protection = access == FileAccess::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void* data = mmap(nullptr, size, protection, MAP_PRIVATE | MAP_NORESERVE, file.fd, 0);
  if (data == MAP_FAILED) return CannotRead(path, "{0}", std::strerror(errno));
  std::shared_ptr<const void> owner(data, Unmap{reinterpret_cast<uintptr_t>(data), size, access});
  return SharedBytes{std::move(owner), llvm::StringRef(static_cast<const char*>(data), size)};
}

void ReleaseFilePages(const Tensor& tensor) { ReleaseFilePages(tensor, 0, tensor.num_bytes()); }

void ReleaseFilePages(const Tensor& tensor, int64_t first_byte, int64_t num_bytes) {
  if (tensor.device().kind != DeviceKind::kCPU || !tensor.owns_memory()) return;
  const Constant constant = tensor.ToConstant();
  const auto* unmap = std::get_deleter<Unmap>(constant.bytes());
  if (unmap == nullptr || unmap->access != FileAccess::kRead) return;
  // Reading a page maps those around it, up to a large page of the file cache.
  constexpr uintptr_t kAround = uintptr_t{2} << 20;
  // It would take longer to read the bytes around them again.
  constexpr int64_t kSmall = 64 << 10;
  if (num_bytes < kSmall) return;
  const auto begin =
      reinterpret_cast<uintptr_t>(constant.data()) + static_cast<uintptr_t>(first_byte);
  const uintptr_t first = std::max<uintptr_t>(llvm::alignDown(begin, kAround), unmap->begin);
  const uintptr_t last =
      std::min<uintptr_t>(llvm::alignTo(begin + static_cast<uintptr_t>(num_bytes), kAround),
                          unmap->begin + unmap->size);
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> ReadFile(llvm::StringRef path) {
  int64_t size = 0;
  llvm::Expected<int> fd = OpenRegularFile(path, &size);
  if (!fd) return fd.takeError();
  FileDescriptor file{*fd};
  auto buffer = llvm::MemoryBuffer::getOpenFile(file.fd, path, static_cast<uint64_t>(size),
                                                /*RequiresNullTerminator=*/false);
  if (!buffer && buffer.getError() == std::errc::not_enough_memory)
    return OutOfMemory("reading '" + path.str() + "'");
  if (!buffer) return CannotRead(path, "{0}", buffer.getError().message());
  return std::move(*buffer);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> ReadStandardInput(int64_t max_bytes) {
  constexpr llvm::StringLiteral kName("<stdin>");
  max_bytes = std::min(max_bytes, std::max<int64_t>(MemoryLimit() - HostMemoryInUse(), 0));
  llvm::SmallString<0> bytes;
  constexpr size_t kChunk = 1 << 16;
  for (;;) {
    const size_t size = bytes.size();
    bytes.resize_for_overwrite(size + kChunk);
    ssize_t got;
    do {
      got = read(STDIN_FILENO, bytes.data() + size, kChunk);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return CannotRead(kName, "{0}", std::strerror(errno));
    bytes.truncate(size + static_cast<size_t>(got));
    if (got == 0) break;
    if (static_cast<int64_t>(bytes.size()) > max_bytes)
      return CannotRead(kName, "it is longer than {0}", BytesToString(max_bytes));
  }
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), kName,
                                                         /*RequiresNullTerminator=*/false);
}

AtomicFile::AtomicFile(std::string path, std::string target, std::string temporary, int fd)
    : path_(std::move(path)),
      target_(std::move(target)),
      temporary_(std::move(temporary)),
      fd_(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)) {
  other.temporary_.clear();
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

llvm::Expected<AtomicFile> AtomicFile::Create(llvm::StringRef path, Links links) {
  if (path.contains('\0')) return CannotWrite(path, "its name contains a NUL character");
  llvm::SmallString<256> target;
  if (links == Links::kReplace || llvm::sys::fs::real_path(path, target)) target = path;

  struct stat status;
  bool exists = lstat(target.c_str(), &status) == 0 && !S_ISLNK(status.st_mode);
  if (exists && S_ISDIR(status.st_mode)) return CannotWrite(path, "{0}", std::strerror(EISDIR));
  if (exists && !S_ISREG(status.st_mode)) {
    int fd = OpenFile(target.str().str(), O_WRONLY);
    if (fd < 0) return CannotWrite(path, "{0}", std::strerror(errno));
    return AtomicFile(path.str(), target.str().str(), "", fd);
  }
  int fd = -1;
  // Allocated before there is a file, which running out of memory would leave.
  std::string given = path.str(), name = target.str().str(), temporary;
  std::error_code code = std::make_error_code(std::errc::file_exists);
  for (int tries = 0; tries < 128 && code == std::errc::file_exists; ++tries) {
    llvm::SmallString<16> suffix;
    llvm::sys::fs::createUniquePath(".%%%%%%%%.tmp", suffix, /*MakeAbsolute=*/false);
    temporary = name + suffix.str().str();
    code = llvm::sys::fs::openFileForReadWrite(temporary, fd, llvm::sys::fs::CD_CreateNew,
                                               llvm::sys::fs::OF_None);
  }
  if (code) return CannotWrite(path, "{0}", code.message());
  AtomicFile file(std::move(given), std::move(name), std::move(temporary), fd);
  if (exists && fchmod(fd, status.st_mode & 07777) != 0)
    return CannotWrite(path, "{0}", std::strerror(errno));
  return file;
}

llvm::Error AtomicFile::Write(const void* data, int64_t size) {
  const char* from = static_cast<const char*>(data);
  // The system writes at most 2 GiB per call.
  constexpr int64_t kMost = int64_t{1} << 30;
  while (size > 0) {
    ssize_t written = write(fd_, from, static_cast<size_t>(std::min(size, kMost)));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotWrite(path_, "{0}", std::strerror(errno));
    from += written;
    size -= written;
  }
  return llvm::Error::success();
}

llvm::Error AtomicFile::Commit() {
  if (!temporary_.empty() && SyncFile(fd_) != 0)
    return CannotWrite(path_, "{0}", std::strerror(errno));
  if (!CloseFile(std::exchange(fd_, -1))) return CannotWrite(path_, "{0}", std::strerror(errno));
  if (temporary_.empty()) return llvm::Error::success();
  if (rename(temporary_.c_str(), target_.c_str()) != 0)
    return CannotWrite(path_, "{0}", std::strerror(errno));
  temporary_.clear();
  // The new name is durable after its folder is synced. Some file systems do not support that.
  llvm::StringRef folder = llvm::sys::path::parent_path(target_);
  FileDescriptor directory{OpenFile(folder.empty() ? "." : folder.str(), O_RDONLY | O_DIRECTORY)};
  if (directory.fd >= 0 && SyncFile(directory.fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    return CannotWrite(path_, "{0}", std::strerror(errno));
  return llvm::Error::success();
}

llvm::Error WriteFileAtomically(llvm::StringRef path, llvm::StringRef bytes) {
  llvm::Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file) return file.takeError();
  if (llvm::Error error = file->Write(bytes)) return error;
  return file->Commit();
}

llvm::Expected<std::string> ResolveInFolder(llvm::StringRef folder, llvm::StringRef relative) {
  namespace path = llvm::sys::path;
  auto leaves = [&] {
    return MakeUserError(Code::kPathEscapes, "'{0}' is not in the network's folder '{1}'", relative,
                         folder);
  };
  if (relative.empty() || relative.contains('\0') || path::is_absolute(relative)) return leaves();
  // Check the path lexically first, which includes files that do not exist.
  int depth = 0;
  for (llvm::StringRef part : llvm::make_range(path::begin(relative), path::end(relative))) {
    if (part == ".") continue;
    depth += part == ".." ? -1 : 1;
    if (depth < 0) return leaves();
  }

  llvm::SmallString<256> root, joined(folder.empty() ? "." : folder), file;
  if (std::error_code code = llvm::sys::fs::real_path(joined, root))
    return CannotRead(folder, "{0}", code.message());
  joined = folder.empty() || folder == "." ? "" : folder;
  path::append(joined, relative);
  if (std::error_code code = llvm::sys::fs::real_path(joined, file))
    return CannotRead(joined, "{0}", code.message());
  llvm::StringRef rest = file;
  bool is_inside = rest.consume_front(root) && (root == "/" || rest.starts_with("/"));
  if (!is_inside) return leaves();
  return joined.str().str();
}

}  // namespace pdl
