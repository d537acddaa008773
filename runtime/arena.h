#ifndef PDL_RUNTIME_ARENA_H_
#define PDL_RUNTIME_ARENA_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "runtime/saturating.h"

namespace pdl {

/// Assigns offsets in one block of memory to buffers that come and go: the smallest free gap that
/// fits, else the end. Offsets are multiples of 64 bytes. O(log n) a call.
class ArenaLayout {
 public:
  static constexpr int64_t kAlignment = 64;

  int64_t Take(int64_t bytes);
  /// Gives back what Take(bytes) gave.
  void GiveBack(int64_t offset, int64_t bytes);
  /// The bytes that the arena needs.
  int64_t size() const { return size_; }
  /// The most bytes that were taken at one time: no layout needs less.
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
