// A library for LD_PRELOAD, or a part of a test program, that makes allocations fail: malloc and
// its relatives, which operator new calls, and anonymous mmap. Allocations are counted from 1 in
// the order of their calls.
//
// FAULT_RECORD=FILE    append a line to FILE for the first allocation of each call site: its
// number,
//                      the hash of the call site, and the frames, innermost first
// FAULT_AT=N           allocation N fails
// FAULT_UNTIL=M        and so do all later ones up to M; default: N
// FAULT_SITE=FILE      append the line of the first allocation that failed to FILE
//
// A call site is the kMaxFrames innermost return addresses, relative to their modules. A line is
// "NUMBER PHASE HASH MODULE+0xOFFSET …", where PHASE is "startup" before main and "main" after
// that.
#include "test/faults/allocation_faults.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

constexpr int kMaxFrames = 8;

// Read and written without allocations, from the first allocation of the process on.
bool is_started = false;
const char* record_file = nullptr;
const char* site_file = nullptr;
bool is_in_main = false;
long fail_from = 0;
long fail_until = 0;
std::atomic<long> allocations{0};

/// Set while this library runs, whose own allocations neither fail nor count.
__thread bool is_inside __attribute__((tls_model("initial-exec"))) = false;

long NumberIn(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text != nullptr ? strtol(text, nullptr, 10) : otherwise;
}

void Start() {
  // The loader allocates before there is an environment.
  if (is_started || environ == nullptr) return;
  is_started = true;
  record_file = getenv("FAULT_RECORD");
  site_file = getenv("FAULT_SITE");
  fail_from = NumberIn("FAULT_AT", 0);
  fail_until = NumberIn("FAULT_UNTIL", fail_from);
}

struct Frames {
  uintptr_t address[kMaxFrames];
  int count = 0;
  int skip = 0;
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* data) {
  Frames& frames = *static_cast<Frames*>(data);
  if (frames.skip-- > 0) return _URC_NO_REASON;
  const uintptr_t address = _Unwind_GetIP(context);
  if (address == 0 || frames.count == kMaxFrames) return _URC_END_OF_STACK;
  frames.address[frames.count++] = address;
  return _URC_NO_REASON;
}

/// The call site of an allocation function that calls the caller of this one.
Frames CallSite() {
  Frames frames;
  frames.skip = 3;
  _Unwind_Backtrace(AddFrame, &frames);
  return frames;
}

/// The module of an address, and the address relative to it.
const char* ModuleOf(uintptr_t address, uintptr_t* offset) {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) {
    *offset = address;
    return "?";
  }
  *offset = address - found.dlfo_link_map->l_addr;
  const char* name = found.dlfo_link_map->l_name;
  if (name == nullptr || *name == '\0') return "program";
  return name;
}

uint64_t Hash(const Frames& frames) {
  uint64_t hash = 1469598103934665603u;
  for (int i = 0; i < frames.count; ++i) {
    uintptr_t offset;
    const char* module = ModuleOf(frames.address[i], &offset);
    hash = (hash ^ offset ^ static_cast<uint64_t>(module[0])) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return hash | 1;
}

/// Appends the line of a call site to a file.
void WriteSite(const char* file, long number, uint64_t hash, const Frames& frames) {
  char line[8192];
  int length =
      snprintf(line, sizeof line, "%ld %s %016lx", number, is_in_main ? "main" : "startup", hash);
  for (int i = 0; i < frames.count && length < static_cast<int>(sizeof line) - 300; ++i) {
    uintptr_t offset;
    const char* module = ModuleOf(frames.address[i], &offset);
    length += snprintf(line + length, 280, " %.240s+0x%lx", module, offset - 1);
  }
  line[length++] = '\n';
  const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0 || write(fd, line, static_cast<size_t>(length)) != length) abort();
  close(fd);
}

constexpr size_t kTableSize = size_t{1} << 20;
uint64_t seen[kTableSize];

/// Whether the hash was not yet in the table of those seen.
bool IsNew(uint64_t hash) {
  size_t at = hash % kTableSize;
  while (seen[at] != 0 && seen[at] != hash) at = (at + 1) % kTableSize;
  const bool is_new = seen[at] == 0;
  seen[at] = hash;
  return is_new;
}

/// Counts an allocation; whether it is to fail. Recording supports one thread only.
__attribute__((noinline)) bool Fails() {
  if (is_inside) return false;
  Start();
  const long number = ++allocations;
  const bool fails = number >= fail_from && number <= fail_until;
  if (record_file == nullptr && !fails) return false;
  is_inside = true;
  const int code = errno;
  if (record_file != nullptr) {
    const Frames frames = CallSite();
    const uint64_t hash = Hash(frames);
    if (IsNew(hash)) WriteSite(record_file, number, hash, frames);
  }
  if (fails && site_file != nullptr && number == fail_from) {
    const Frames frames = CallSite();
    WriteSite(site_file, number, Hash(frames), frames);
  }
  errno = fails ? ENOMEM : code;
  is_inside = false;
  return fails;
}

using MainFunction = int(int, char**, char**);
MainFunction* real_main = nullptr;

int MarkedMain(int argc, char** argv, char** environment) {
  is_in_main = true;
  return real_main(argc, argv, environment);
}

}  // namespace

void FailAllocations(long from, long until) {
  allocations = 0;
  fail_from = from;
  fail_until = until;
}

long CountAllocations() { return allocations; }

#pragma GCC visibility push(default)
extern "C" {

int __libc_start_main(MainFunction* main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  real_main = main;
  using Start = int(MainFunction*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto* start = reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(MarkedMain, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(size_t size) { return Fails() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return Fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return Fails() ? nullptr : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) {
  return Fails() ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return Fails() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  if (Fails()) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result != nullptr ? 0 : ENOMEM;
}

void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && Fails()) return MAP_FAILED;
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

}  // extern "C"
#pragma GCC visibility pop
