#include "kernels/core/scratch_areas.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

#include "kernels/core/grain.h"
#include "runtime/context_threads.h"

namespace pdl {
namespace {

/// The areas that no piece uses, one bit for each.
class FreeAreas {
 public:
  explicit FreeAreas(int64_t count) : bits_((uint32_t{1} << count) - 1) {}

  /// The first one, which the last piece of this thread probably had.
  int64_t Take() {
    uint32_t bits = bits_.load(std::memory_order_relaxed);
    for (;;) {
      if (bits == 0) {  // only if the context has more threads than when the areas were counted
        std::this_thread::yield();
        bits = bits_.load(std::memory_order_relaxed);
        continue;
      }
      const uint32_t others = bits & (bits - 1);
      if (bits_.compare_exchange_weak(bits, others, std::memory_order_acquire))
        return std::countr_zero(bits);
    }
  }
  void GiveBack(int64_t area) { bits_.fetch_or(uint32_t{1} << area, std::memory_order_release); }

 private:
  static_assert(kMaxPieces < 32);
  std::atomic<uint32_t> bits_;
};

}  // namespace

int64_t ScratchAreas(const DeviceContext& device, int64_t pieces) {
  return std::min(pieces, ThreadsOf(device));
}

void ParallelForAreas(CPUContext& context, int64_t pieces, int64_t areas,
                      llvm::function_ref<void(int64_t piece, int64_t area)> f) {
  FreeAreas free(areas);
  context.ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
    const int64_t area = free.Take();
    for (int64_t piece = begin; piece < end; ++piece) f(piece, area);
    free.GiveBack(area);
  });
}

}  // namespace pdl
