// Memory of the CPU, counted against MemoryLimit().
#ifndef PDL_RUNTIME_MEMORY_H_
#define PDL_RUNTIME_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// Whether AllocateHostMemory clears what it gives.
enum class MemoryFill : bool { kNone, kZero };

/// Memory aligned to 64 bytes, never null. An Error that says who wanted it, how much is needed and
/// how much is allowed, where the limit would be exceeded; a DeviceError where the machine has
/// none.
llvm::Expected<std::shared_ptr<void>> AllocateHostMemory(int64_t bytes, MemoryFill fill,
                                                         llvm::StringRef what);

/// Counts memory that is allocated elsewhere, as long as what is returned lives; the same Error.
PDL_API llvm::Expected<std::shared_ptr<void>> CountHostMemory(int64_t bytes, llvm::StringRef what);

/// Bytes that AllocateHostMemory has given and that are alive, and those counted.
int64_t HostMemoryInUse();

/// "512 bytes", "1.5 MiB".
std::string BytesToString(int64_t bytes);

}  // namespace pdl

#endif  // PDL_RUNTIME_MEMORY_H_
