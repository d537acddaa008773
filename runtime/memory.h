// CPU memory with accounting against MemoryLimit().
#ifndef PDL_RUNTIME_MEMORY_H_
#define PDL_RUNTIME_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// Whether AllocateHostMemory zeroes the memory.
enum class MemoryFill : bool { kNone, kZero };

/// Allocates memory aligned to 64 bytes; the result is never null. Fails with a UserError if the
/// limit would be exceeded, stating the consumer `what`, the required size and the limit, and with
/// a DeviceError if the machine is out of memory.
llvm::Expected<std::shared_ptr<void>> AllocateHostMemory(int64_t bytes, MemoryFill fill,
                                                         llvm::StringRef what);

/// Accounts for memory allocated elsewhere during the lifetime of the result; fails likewise.
PDL_API llvm::Expected<std::shared_ptr<void>> CountHostMemory(int64_t bytes, llvm::StringRef what);

/// The number of bytes allocated by AllocateHostMemory or accounted, and still alive.
int64_t HostMemoryInUse();

/// Returns "512 bytes", "1.5 MiB".
std::string BytesToString(int64_t bytes);

}  // namespace pdl

#endif  // PDL_RUNTIME_MEMORY_H_
