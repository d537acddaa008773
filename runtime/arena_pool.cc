#include "runtime/arena_pool.h"

#include "llvm/ADT/STLExtras.h"

namespace pdl {

llvm::Expected<std::shared_ptr<SharedArena>> ArenaPool::Take(int64_t bytes,
                                                             DeviceContext& context) {
  bytes = std::max<int64_t>(bytes, 1);
  bool is_first = true;
  {
    std::lock_guard lock(mutex_);
    llvm::erase_if(arenas_, [](const auto& arena) { return arena.expired(); });
    for (const std::weak_ptr<SharedArena>& each : arenas_) {
      std::shared_ptr<SharedArena> arena = each.lock();
      if (!arena) continue;
      if (arena->bytes() >= bytes && arena->TryTake()) return arena;
      is_first &= arena->bytes() >= bytes;
    }
  }
  // Allocates a reserve for growing sizes.
  const int64_t requested = is_first ? bytes : bytes + bytes / 4;
  llvm::Expected<std::shared_ptr<void>> memory = context.Allocate(requested);
  int64_t given = requested;
  if (!memory && requested > bytes) {
    llvm::consumeError(memory.takeError());
    memory = context.Allocate(given = bytes);
  }
  if (!memory) return memory.takeError();
  auto arena = std::make_shared<SharedArena>(std::move(*memory), given);
  std::lock_guard lock(mutex_);
  arenas_.push_back(arena);
  return arena;
}

}  // namespace pdl
