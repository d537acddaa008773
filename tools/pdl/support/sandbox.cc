#include "tools/pdl/support/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "pdl/op/error.h"

namespace pdl {
namespace {

namespace fs = std::filesystem;

// Rights of later versions than the headers of Debian 12 have.
constexpr uint64_t kTruncate = 1 << 14, kDeviceControl = 1 << 15;

constexpr uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWrite = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
                            LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                            LANDLOCK_ACCESS_FS_REMOVE_DIR | kTruncate;

llvm::Error Unavailable(const char* what) {
  return MakeDeviceError(
      "cannot start the sandbox: {0}: {1}; --no-sandbox runs without one, which is not safe for "
      "untrusted files",
      what, std::strerror(errno));
}

/// All rights over files that a version of Landlock can take away.
uint64_t RightsOf(int version) {
  uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kDeviceControl;
  return rights;
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() {
    if (number_ >= 0) close(number_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// Allows `rights` below the folder of `path`; see SandboxFiles.
bool Allow(int ruleset, const std::string& path, uint64_t rights) {
  std::error_code error;
  // Many values of options are no paths. A pattern of weight files is in a folder.
  const bool is_pattern = path.find('*') != std::string::npos;
  if (rights == kRead && !is_pattern && !fs::exists(path, error)) return true;
  fs::path folder = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error || folder.empty()) return true;
  const fs::path file = folder;
  if (!fs::is_directory(folder, error)) folder = folder.parent_path();
  if (rights != kRead)
    while (folder != folder.root_path() && !fs::exists(folder, error))
      folder = folder.parent_path();
  if (folder == folder.root_path() && file != folder) {
    folder = file;
    rights &= kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
  }
  const FileDescriptor parent(open(folder.c_str(), O_PATH | O_CLOEXEC));
  if (parent.number() < 0) return true;
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = rights;
  rule.parent_fd = parent.number();
  return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

llvm::Error RestrictFiles(const SandboxFiles& files) {
  const auto version = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
  if (version < 1) return Unavailable("the kernel has no Landlock");
  landlock_ruleset_attr attributes = {};
  attributes.handled_access_fs = RightsOf(version);
  const FileDescriptor ruleset(static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0)));
  if (ruleset.number() < 0) return Unavailable("Landlock");
  for (const std::string& path : files.read)
    if (!Allow(ruleset.number(), path, kRead)) return Unavailable("Landlock");
  for (const std::string& path : files.write)
    if (!Allow(ruleset.number(), path, kWrite & attributes.handled_access_fs))
      return Unavailable("Landlock");
  if (syscall(SYS_landlock_restrict_self, ruleset.number(), 0) != 0) return Unavailable("Landlock");
  return llvm::Error::success();
}

// Reading and writing open files; opening, making and renaming others, which Landlock decides;
// memory, threads, clocks and random numbers.
constexpr int kAllowed[] = {
    // clang-format off
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write),
    SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(pwritev), SCMP_SYS(lseek), SCMP_SYS(close),
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(fstat), SCMP_SYS(stat), SCMP_SYS(lstat),
    SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3),
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(pipe2), SCMP_SYS(fadvise64), SCMP_SYS(fsync),
    SCMP_SYS(fdatasync), SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(flock),
    SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(unlink),
    SCMP_SYS(unlinkat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(fchmod),
    SCMP_SYS(umask), SCMP_SYS(copy_file_range), SCMP_SYS(sendfile),
    SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
    SCMP_SYS(brk), SCMP_SYS(msync), SCMP_SYS(mincore),
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(set_tid_address),
    SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(membarrier), SCMP_SYS(exit),
    SCMP_SYS(exit_group), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall),
    SCMP_SYS(gettid), SCMP_SYS(getpid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
    SCMP_SYS(getegid), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time),
    // clang-format on
};

/// Adds the rules of calls that are allowed with some arguments. Returns an errno.
int AddConditionalRules(scmp_filter_ctx filter) {
  const auto allow = [&](int call, scmp_arg_cmp condition) {
    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &condition);
  };
  int failure = 0;
  const auto check = [&](int result) { failure = failure != 0 ? failure : result; };
  // Threads, not processes. The arguments of clone3 cannot be seen; the C library then calls clone.
  check(allow(SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)));
  check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
  // abort().
  check(allow(SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid()))));
  check(allow(SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME)));
  // Reading limits, not setting them.
  check(allow(SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0)));
  constexpr unsigned kTerminal = 0x5401, kWindow = 0x5413;  // TCGETS, TIOCGWINSZ
  check(allow(SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, kTerminal)));
  check(allow(SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, kWindow)));
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, F_SETLK, F_OFD_SETLK})
    check(allow(SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(command))));
  return failure;
}

llvm::Error RestrictCalls() {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)),
                                                                &seccomp_release);
  int failure = filter == nullptr ? -ENOMEM : 0;
  for (const int call : kAllowed)
    if (failure == 0) failure = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
  if (failure == 0) failure = AddConditionalRules(filter.get());
  if (failure == 0) failure = seccomp_load(filter.get());
  if (failure == 0) return llvm::Error::success();
  errno = -failure;
  return Unavailable("seccomp");
}

llvm::Error LimitResources() {
#if defined(__SANITIZE_ADDRESS__) || defined(PDL_THREAD_SANITIZER)
  // Sanitizers reserve more than there is.
  const rlim_t memory = RLIM_INFINITY;
#else
  const auto memory =
      static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
#endif
  const std::pair<__rlimit_resource, rlim_t> kLimits[] = {
      {RLIMIT_CORE, 0}, {RLIMIT_NOFILE, 1024}, {RLIMIT_DATA, memory}};
  for (const auto& [resource, most] : kLimits) {
    rlimit limit = {};
    if (getrlimit(resource, &limit) != 0) return Unavailable("getrlimit");
    limit.rlim_cur = std::min(limit.rlim_cur, most);
    limit.rlim_max = std::min(limit.rlim_max, most);
    if (setrlimit(resource, &limit) != 0) return Unavailable("setrlimit");
  }
  return llvm::Error::success();
}

}  // namespace

llvm::Error EnterSandbox(const SandboxFiles& files) {
  // No program with more rights can be started, which seccomp and Landlock require.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Unavailable("PR_SET_NO_NEW_PRIVS");
  if (llvm::Error error = LimitResources()) return error;
  if (llvm::Error error = RestrictFiles(files)) return error;
  return RestrictCalls();
}

}  // namespace pdl
