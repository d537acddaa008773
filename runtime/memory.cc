#include "runtime/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "llvm/Support/FormatVariadic.h"
#include "pdl/op/device_context.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

constexpr int64_t kAlignment = 64;

/// Reads a number from a file; nullopt if there is none, or if it is "max".
std::optional<int64_t> NumberIn(const char* path) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return std::nullopt;
  long long number = 0;
  const bool is_number = std::fscanf(file, "%lld", &number) == 1;
  std::fclose(file);
  return is_number ? std::optional<int64_t>(number) : std::nullopt;
}

/// The memory that this process may use: that of the machine, or of its container.
int64_t PhysicalMemory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page_size = sysconf(_SC_PAGE_SIZE);
  int64_t bytes = pages > 0 && page_size > 0 ? pages * page_size : INT64_MAX;
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (const std::optional<int64_t> limit = NumberIn(path); limit && *limit > 0)
      bytes = std::min(bytes, *limit);
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit;
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur < static_cast<uint64_t>(bytes))
      bytes = static_cast<int64_t>(limit.rlim_cur);
  }
  return bytes;
}

int64_t DefaultLimit() { return PhysicalMemory() / 4 * 3; }

std::atomic<int64_t>& Limit() {
  static std::atomic<int64_t> limit(DefaultLimit());
  return limit;
}

std::atomic<int64_t> in_use = 0;

llvm::Error Reserve(int64_t bytes, llvm::StringRef what) {
  int64_t limit = MemoryLimit();
  int64_t used = in_use.load(std::memory_order_relaxed);
  do {
    if (bytes > limit - used) {
      std::string already = used == 0 ? "" : ", of which " + BytesToString(used) + " are in use";
      return MakeUserError(Code::kMemoryLimit, "{0} needs {1}, but the memory limit is {2}{3}",
                           what, BytesToString(bytes), BytesToString(limit), already);
    }
  } while (!in_use.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return llvm::Error::success();
}

/// Blocks of at least this size, that of a large page, get large pages.
constexpr size_t kLargeBlock = size_t{2} << 20;

/// Asks for pages of 2 MiB, where the system gives them only if asked: reading memory from the
/// first byte to the last is faster by a tenth, and there are fewer page faults. The pages of the
/// block's ends, which others may share, stay as they are.
void PreferLargePages(void* block, size_t bytes) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGE_SIZE));
  const auto begin = reinterpret_cast<uintptr_t>(block);
  const uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
  // Where there are no large pages, it fails without effect.
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

void Release(int64_t bytes) { in_use.fetch_sub(bytes, std::memory_order_relaxed); }

}  // namespace

int64_t MemoryLimit() { return Limit().load(std::memory_order_relaxed); }

void SetMemoryLimit(int64_t bytes) {
  Limit().store(std::max<int64_t>(bytes, 0), std::memory_order_relaxed);
}

int64_t HostMemoryInUse() { return in_use.load(std::memory_order_relaxed); }

std::string BytesToString(int64_t bytes) {
  if (bytes == 1) return "1 byte";
  if (bytes < 1024) return llvm::formatv("{0} bytes", bytes).str();
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  unsigned unit = 0;
  for (; value >= 1024 && unit < 5; ++unit) value /= 1024;
  return llvm::formatv("{0:f1} {1}", value, kUnits[unit]).str();
}

llvm::Expected<std::shared_ptr<void>> AllocateHostMemory(int64_t bytes, MemoryFill fill,
                                                         llvm::StringRef what) {
  if (llvm::Error error = Reserve(bytes, what)) return error;
  // The system returns large blocks zeroed; calloc relies on that and does not touch them.
  size_t size = static_cast<size_t>(bytes) + kAlignment;
  void* block = fill == MemoryFill::kZero ? std::calloc(size, 1) : std::malloc(size);
  if (block == nullptr) {
    Release(bytes);
    return MakeDeviceError("out of memory: {0} needs {1}, which the machine cannot provide", what,
                           BytesToString(bytes));
  }
  // Memory that has to be zero may never be written.
  if (fill == MemoryFill::kNone && size >= kLargeBlock) PreferLargePages(block, size);
  auto address = reinterpret_cast<uintptr_t>(block);
  auto* aligned = reinterpret_cast<void*>((address + kAlignment - 1) & ~uintptr_t{kAlignment - 1});
  return std::shared_ptr<void>(aligned, [block, bytes](void*) {
    std::free(block);
    Release(bytes);
  });
}

llvm::Expected<std::shared_ptr<void>> CountHostMemory(int64_t bytes, llvm::StringRef what) {
  if (llvm::Error error = Reserve(bytes, what)) return error;
  static char counted;
  return std::shared_ptr<void>(&counted, [bytes](void*) { Release(bytes); });
}

}  // namespace pdl
