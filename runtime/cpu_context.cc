#include <algorithm>
#include <atomic>
#include <cstring>

#include "pdl/op/device_context.h"
#include "runtime/cancellation.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace pdl {
namespace {

/// Enough to balance the load of many threads, and few enough to keep the overhead negligible.
constexpr int64_t kMaxPieces = 256;

}  // namespace

CPUContext::CPUContext(int threads)
    : DeviceContext(Device{DeviceKind::kCPU, 0}, Native::kYes),
      threads_(threads > 0 ? threads : AvailableProcessors()) {}

std::unique_ptr<DeviceContext> CPUContext::Fork() const {
  return std::make_unique<CPUContext>(threads_);
}

void CPUContext::ParallelPieces(int64_t n, int64_t grain,
                                llvm::function_ref<void(int64_t begin, int64_t end)> f) {
  grain = std::max<int64_t>(grain, 1);
  // Pieces consist of complete grains, so that they begin at tiles of the kernel.
  int64_t grains = (n - 1) / grain + 1;
  int64_t grains_per_piece = (grains - 1) / kMaxPieces + 1;
  int64_t pieces = (grains - 1) / grains_per_piece + 1;
  int64_t length = grain * grains_per_piece;
  const std::atomic<bool>* cancel = CurrentCancellation();
  RunPieces(pieces, threads_, [&](int64_t piece) {
    EndIfCancelled(cancel);
    int64_t begin = piece * length;
    f(begin, std::min(n - begin, length) + begin);
  });
}

llvm::Expected<std::shared_ptr<void>> CPUContext::Allocate(int64_t bytes) {
  return AllocateHostMemory(bytes, MemoryFill::kNone, "a run");
}

llvm::Error CPUContext::CopyFromHost(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
  return llvm::Error::success();
}

llvm::Error CPUContext::CopyToHost(void* to, const void* from, int64_t bytes) {
  return CopyFromHost(to, from, bytes);
}

llvm::Error CPUContext::CopyWithin(void* to, const void* from, int64_t bytes) {
  return CopyFromHost(to, from, bytes);
}

}  // namespace pdl
