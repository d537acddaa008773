#ifndef PDL_RUNTIME_ARENA_POOL_H_
#define PDL_RUNTIME_ARENA_POOL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"

namespace pdl {

/// Memory that several Frames share, but that only one run uses at a time.
class SharedArena {
 public:
  SharedArena(std::shared_ptr<void> memory, int64_t bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}

  /// Returns false if a run uses it.
  bool TryTake() { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void GiveBack() { is_taken_.store(false, std::memory_order_release); }
  const std::shared_ptr<void>& memory() const { return memory_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> memory_;
  int64_t bytes_;
  std::atomic<bool> is_taken_ = true;
};

/// The arenas of a Plan, whose Bindings need different sizes. A new Binding reuses memory of
/// others, and all kept Bindings together need no more than the largest.
class ArenaPool {
 public:
  /// Takes an arena with at least `bytes`.
  llvm::Expected<std::shared_ptr<SharedArena>> Take(int64_t bytes, DeviceContext& context);

 private:
  std::mutex mutex_;
  /// Owned by Frames.
  std::vector<std::weak_ptr<SharedArena>> arenas_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_ARENA_POOL_H_
