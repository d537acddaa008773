// A library for LD_PRELOAD that makes system calls on files fail. A seccomp filter traps the calls,
// also those that the C library makes itself; the signal's handler makes the call or returns an
// error. Only calls on files in the folder FAULT_FOLDER, and with relative names, are counted, from
// 1 on.
//
// FAULT_RECORD=FILE    append a line for each call to FILE: its number, its name, and the file's
// name FAULT_AT=N           call N fails FAULT_UNTIL=M        and so do all later calls of the same
// name up to M; default: N FAULT_ERROR=E        with the error number E; 0: reads and writes
// transfer one byte instead
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// The only system call instruction that the filter lets pass.
asm(R"(
.text
.globl fault_system_call
.hidden fault_system_call
.globl fault_system_call_end
.hidden fault_system_call_end
fault_system_call:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
fault_system_call_end:
  ret
)");

extern "C" {
long fault_system_call(long number, long a, long b, long c, long d, long e, long f);
extern const char fault_system_call_end[];
}

namespace {

/// Which argument of a system call names the file.
enum class Names : uint8_t { kPath, kPathAt, kFile, kMapping };

struct SystemCall {
  int number;
  const char* name;
  Names names;
};

constexpr SystemCall kCalls[] = {
    {SYS_open, "open", Names::kPath},
    {SYS_openat, "openat", Names::kPathAt},
    {SYS_creat, "creat", Names::kPath},
    {SYS_read, "read", Names::kFile},
    {SYS_readv, "readv", Names::kFile},
    {SYS_pread64, "pread64", Names::kFile},
    {SYS_write, "write", Names::kFile},
    {SYS_writev, "writev", Names::kFile},
    {SYS_pwrite64, "pwrite64", Names::kFile},
    {SYS_lseek, "lseek", Names::kFile},
    {SYS_close, "close", Names::kFile},
    {SYS_fsync, "fsync", Names::kFile},
    {SYS_fdatasync, "fdatasync", Names::kFile},
    {SYS_ftruncate, "ftruncate", Names::kFile},
    {SYS_fallocate, "fallocate", Names::kFile},
    {SYS_fchmod, "fchmod", Names::kFile},
    {SYS_flock, "flock", Names::kFile},
    {SYS_fcntl, "fcntl", Names::kFile},
    {SYS_fstat, "fstat", Names::kFile},
    {SYS_fstatfs, "fstatfs", Names::kFile},
    {SYS_getdents64, "getdents64", Names::kFile},
    {SYS_copy_file_range, "copy_file_range", Names::kFile},
    {SYS_sendfile, "sendfile", Names::kFile},
    {SYS_mmap, "mmap", Names::kMapping},
    {SYS_stat, "stat", Names::kPath},
    {SYS_lstat, "lstat", Names::kPath},
    {SYS_newfstatat, "newfstatat", Names::kPathAt},
    {SYS_statx, "statx", Names::kPathAt},
    {SYS_statfs, "statfs", Names::kPath},
    {SYS_access, "access", Names::kPath},
    {SYS_faccessat, "faccessat", Names::kPathAt},
    {SYS_faccessat2, "faccessat2", Names::kPathAt},
    {SYS_readlink, "readlink", Names::kPath},
    {SYS_readlinkat, "readlinkat", Names::kPathAt},
    {SYS_rename, "rename", Names::kPath},
    {SYS_renameat, "renameat", Names::kPathAt},
    {SYS_renameat2, "renameat2", Names::kPathAt},
    {SYS_link, "link", Names::kPath},
    {SYS_unlink, "unlink", Names::kPath},
    {SYS_unlinkat, "unlinkat", Names::kPathAt},
    {SYS_mkdir, "mkdir", Names::kPath},
    {SYS_mkdirat, "mkdirat", Names::kPathAt},
    {SYS_rmdir, "rmdir", Names::kPath},
    {SYS_chmod, "chmod", Names::kPath},
    {SYS_truncate, "truncate", Names::kPath},
    {SYS_chdir, "chdir", Names::kPath},
};

const char* folder = nullptr;
const char* record_file = nullptr;
long fail_from = 0;
long fail_until = 0;
int error_number = 0;
std::atomic<int> failing_call{-1};
std::atomic<long> calls{0};

long Call(long number, long a = 0, long b = 0, long c = 0) {
  return fault_system_call(number, a, b, c, 0, 0, 0);
}

/// Copies the file's name to `name`; false if the call does not count.
bool FindName(const SystemCall& call, const greg_t* registers, char* name, size_t size) {
  if (call.names == Names::kPath || call.names == Names::kPathAt) {
    const auto* path =
        reinterpret_cast<const char*>(registers[call.names == Names::kPath ? REG_RDI : REG_RSI]);
    if (path == nullptr) return false;
    snprintf(name, size, "%s", path);
    if (*name == '\0') return false;
    return *name != '/' || strncmp(name, folder, strlen(folder)) == 0;
  }
  if (call.names == Names::kMapping && (registers[REG_R10] & MAP_ANONYMOUS) != 0) return false;
  const long file = registers[call.names == Names::kMapping ? REG_R8 : REG_RDI];
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%ld", file);
  const long length = Call(SYS_readlink, reinterpret_cast<long>(link), reinterpret_cast<long>(name),
                           static_cast<long>(size) - 1);
  if (length < 0) return false;
  name[length] = '\0';
  return strncmp(name, folder, strlen(folder)) == 0;
}

void Record(long number, const char* call, const char* name) {
  char line[PATH_MAX + 64];
  const int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call, name);
  const long file = Call(SYS_open, reinterpret_cast<long>(record_file),
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  Call(SYS_write, file, reinterpret_cast<long>(line), length);
  Call(SYS_close, file);
}

bool IsTransfer(long number) {
  return number == SYS_read || number == SYS_write || number == SYS_pread64 ||
         number == SYS_pwrite64;
}

bool Fails(long number, int call) {
  if (number < fail_from || number > fail_until) return false;
  if (number == fail_from) failing_call = call;
  return call == failing_call;
}

long Make(const greg_t* r, long count) {
  return fault_system_call(r[REG_RAX], r[REG_RDI], r[REG_RSI], count, r[REG_R10], r[REG_R8],
                           r[REG_R9]);
}

void OnTrap(int, siginfo_t* info, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RAX] = info->si_syscall;
  const SystemCall* call = kCalls;
  while (call->number != info->si_syscall) ++call;
  char name[PATH_MAX];
  long count = registers[REG_RDX];
  int error = 0;
  if (FindName(*call, registers, name, sizeof name)) {
    const long number = ++calls;
    if (record_file != nullptr) Record(number, call->name, name);
    if (Fails(number, call->number)) {
      error = error_number;
      if (error == 0 && IsTransfer(call->number) && count > 1) count = 1;
    }
  }
  // A file is closed even if that fails.
  if (error != 0 && call->number == SYS_close) Make(registers, count);
  registers[REG_RAX] = error != 0 ? -error : Make(registers, count);
}

long NumberIn(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text != nullptr ? strtol(text, nullptr, 10) : otherwise;
}

void TrapCalls() {
  constexpr size_t kCount = sizeof(kCalls) / sizeof(*kCalls);
  // If the call is one of kCalls, and not that of fault_system_call, it is trapped.
  constexpr size_t kBefore = 1;
  sock_filter program[kBefore + kCount + 7];
  size_t at = 0;
  const auto address = reinterpret_cast<uint64_t>(fault_system_call_end);
  constexpr auto kAddress = static_cast<uint32_t>(offsetof(seccomp_data, instruction_pointer));
  program[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (size_t i = 0; i < kCount; ++i)
    program[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(kCalls[i].number),
                             static_cast<uint8_t>(kCount - i), 0);
  program[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddress);
  program[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(address), 0, 3);
  program[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddress + 4);
  program[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(address >> 32), 0, 1);
  program[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const sock_fprog filter = {static_cast<unsigned short>(at), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    abort();
}

__attribute__((constructor)) void Start() {
  folder = getenv("FAULT_FOLDER");
  if (folder == nullptr) return;
  record_file = getenv("FAULT_RECORD");
  fail_from = NumberIn("FAULT_AT", 0);
  fail_until = NumberIn("FAULT_UNTIL", fail_from);
  error_number = static_cast<int>(NumberIn("FAULT_ERROR", 0));
  struct sigaction action = {};
  action.sa_sigaction = OnTrap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSYS, &action, nullptr) != 0) abort();
  TrapCalls();
}

}  // namespace

// A trap while its signal is blocked would end the process. LLVM blocks all signals to close a
// file.
extern "C" __attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t* set,
                                                                      sigset_t* old) {
  sigset_t changed;
  if (set != nullptr && how != SIG_UNBLOCK) {
    changed = *set;
    sigdelset(&changed, SIGSYS);
    set = &changed;
  }
  constexpr long kBytes = 8;  // of the kernel's signal sets
  return static_cast<int>(-fault_system_call(SYS_rt_sigprocmask, how, reinterpret_cast<long>(set),
                                             reinterpret_cast<long>(old), kBytes, 0, 0));
}
