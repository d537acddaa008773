#ifndef PDL_RUNTIME_ARENA_H_
#define PDL_RUNTIME_ARENA_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "runtime/saturating.h"

namespace pdl {

/// Assigns offsets in one block of memory to buffers with limited lifetimes: the smallest free gap
/// that fits, else the end. Offsets are multiples of 64 bytes. Each call takes O(log n).
class ArenaLayout {
 public:
  static constexpr int64_t kAlignment = 64;

  int64_t Take(int64_t bytes);
  /// Frees an offset that Take(bytes) returned.
  void GiveBack(int64_t offset, int64_t bytes);
  /// The size of the arena in bytes.
  int64_t size() const { return size_; }
  /// The maximum number of bytes in use at one time, a lower bound for any layout.
  int64_t peak() const { return peak_; }

 private:
  static int64_t Rounded(int64_t bytes) {
    return bytes <= 0 ? kAlignment : SaturatingRoundUp(bytes, kAlignment);
  }
  std::map<int64_t, int64_t> gaps_;                // offset -> bytes
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (bytes, offset)
  int64_t size_ = 0;
  int64_t taken_ = 0, peak_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_ARENA_H_
