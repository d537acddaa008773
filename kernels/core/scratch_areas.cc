#include "kernels/core/scratch_areas.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

#include "llvm/ADT/ScopeExit.h"
#include "runtime/context_threads.h"

namespace pdl {
namespace {

constexpr int64_t kMostAreas = 64;

/// The areas that no piece uses, one bit for each.
class FreeAreas {
 public:
  /// `count` is from 1 to kMostAreas.
  explicit FreeAreas(int64_t count) : bits_(~uint64_t{0} >> (kMostAreas - count)) {}

  /// The first one, which the last piece of this thread probably had.
  int64_t Take() {
    uint64_t bits = bits_.load(std::memory_order_relaxed);
    for (;;) {
      if (bits == 0) {  // there are more threads than areas
        std::this_thread::yield();
        bits = bits_.load(std::memory_order_relaxed);
        continue;
      }
      const uint64_t others = bits & (bits - 1);
      if (bits_.compare_exchange_weak(bits, others, std::memory_order_acquire))
        return std::countr_zero(bits);
    }
  }
  void GiveBack(int64_t area) { bits_.fetch_or(uint64_t{1} << area, std::memory_order_release); }

 private:
  std::atomic<uint64_t> bits_;
};

}  // namespace

int64_t ScratchAreas(const DeviceContext& device, int64_t pieces) {
  return std::clamp<int64_t>(std::min(pieces, ThreadsOf(device)), 1, kMostAreas);
}

void ParallelForAreas(CPUContext& context, int64_t pieces, int64_t areas,
                      llvm::function_ref<void(int64_t piece, int64_t area)> f) {
  FreeAreas free(areas);
  context.ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
    const int64_t area = free.Take();
    const auto give_back = llvm::make_scope_exit([&] { free.GiveBack(area); });
    for (int64_t piece = begin; piece < end; ++piece) f(piece, area);
  });
}

}  // namespace pdl
