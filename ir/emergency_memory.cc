// The function from which LLVM's DenseMap, StringMap and bump allocators get their memory; it
// replaces that of LLVM's library. A DenseMap is broken if this function throws while the map
// grows: its destructor crashes. So when memory is exhausted, it takes memory from a reserve. The
// next allocation of any other kind then fails with std::bad_alloc, which becomes an Error. A table
// for which the reserve is too small ends the process.
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <new>

#include "llvm/Support/MemAlloc.h"
#include "pdl/compiler/export.h"

namespace pdl {
namespace {

/// Pieces of memory of the same size. May be used by several threads.
class Pieces {
 public:
  /// `memory` has space for `count` pieces, at most 64.
  constexpr Pieces(char* memory, size_t size, unsigned count)
      : memory_(memory), size_(size), count_(count) {}

  /// Returns null if the pieces are smaller than `size` or all in use.
  void* Take(size_t size) {
    if (size > size_) return nullptr;
    uint64_t taken = taken_.load();
    for (;;) {
      const auto free = static_cast<unsigned>(std::countr_one(taken));
      if (free >= count_) return nullptr;
      if (taken_.compare_exchange_weak(taken, taken | uint64_t{1} << free))
        return memory_ + free * size_;
    }
  }
  /// Returns false if the memory is not one of these pieces.
  bool GiveBack(const void* memory) {
    const auto offset = reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(memory_);
    if (offset >= size_ * count_) return false;
    taken_.fetch_and(~(uint64_t{1} << (offset / size_)));
    return true;
  }

 private:
  char* const memory_;
  const size_t size_;
  const unsigned count_;
  std::atomic<uint64_t> taken_{0};
};

// Zeros, which take no memory until they are written to.
constexpr size_t kAlignment = 4096;
alignas(kAlignment) char small_memory[64][size_t{1} << 12];
alignas(kAlignment) char medium_memory[16][size_t{1} << 16];
alignas(kAlignment) char large_memory[4][size_t{1} << 20];

constinit Pieces reserve[] = {{small_memory[0], sizeof(small_memory[0]), 64},
                              {medium_memory[0], sizeof(medium_memory[0]), 16},
                              {large_memory[0], sizeof(large_memory[0]), 4}};

void* TakeFromReserve(size_t size) {
  for (Pieces& pieces : reserve)
    if (void* memory = pieces.Take(size)) return memory;
  return nullptr;
}

bool GiveBackToReserve(const void* memory) {
  for (Pieces& pieces : reserve)
    if (pieces.GiveBack(memory)) return true;
  return false;
}

}  // namespace
}  // namespace pdl

namespace llvm {

PDL_API void* allocate_buffer(size_t size, size_t alignment) {
  try {
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(size);
    return ::operator new(size, std::align_val_t(alignment));
  } catch (const std::bad_alloc&) {
    if (void* memory = pdl::TakeFromReserve(size)) return memory;
    std::terminate();  // whose handler finds this exception
  }
}

PDL_API void deallocate_buffer(void* memory, size_t size, size_t alignment) {
  if (pdl::GiveBackToReserve(memory)) return;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    ::operator delete(memory, size);
  else
    ::operator delete(memory, size, std::align_val_t(alignment));
}

}  // namespace llvm
