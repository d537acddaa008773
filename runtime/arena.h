#ifndef PDL_RUNTIME_ARENA_H_
#define PDL_RUNTIME_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runtime/saturating.h"

namespace pdl {

/// Assigns offsets in one block of memory to buffers with limited lifetimes. Offsets are multiples
/// of 64 bytes.
///
/// Buffers are first placed in the order in which they are taken: in the smallest free gap that
/// fits, else at the end, in O(log n) each. If that needs clearly more than the bytes that are in
/// use at one time, Finish assigns offsets again in other orders, when all lifetimes are known.
class ArenaLayout {
 public:
  static constexpr int64_t kAlignment = 64;

  /// Adds a buffer whose lifetime begins; returns its index.
  size_t Take(int64_t bytes);
  /// Ends the lifetime of a buffer.
  void GiveBack(size_t buffer);
  /// Chooses the layout. Called once, after all others.
  void Finish();

  /// The offset of a buffer, after Finish.
  int64_t OffsetOf(size_t buffer) const { return buffers_[buffer].offset; }
  /// The size of the arena in bytes.
  int64_t size() const { return size_; }
  /// The maximum number of bytes in use at one time, a lower bound for any layout.
  int64_t peak() const { return peak_; }

 private:
  struct Buffer {
    int64_t bytes = 0;
    int64_t offset = 0;
    /// Lifetime: the times of Take and of GiveBack, which is the number of all calls if it was not
    /// called.
    size_t begin = 0, end = SIZE_MAX;
  };

  static int64_t Rounded(int64_t bytes) {
    return bytes <= 0 ? kAlignment : SaturatingRoundUp(bytes, kAlignment);
  }
  int64_t TakeGap(int64_t bytes);
  void AddGap(int64_t offset, int64_t bytes);
  /// All buffers, those of the moments with the most bytes in use first, and the largest of these
  /// first (Pisarchyk & Lee, Efficient Memory Management for Deep Neural Net Inference, 2020).
  std::vector<size_t> ByBreadth() const;
  /// Assigns offsets again in this order. Changes nothing unless that needs fewer bytes.
  void Repack(const std::vector<size_t>& order);

  std::vector<Buffer> buffers_;
  size_t time_ = 0;
  std::map<int64_t, int64_t> gaps_;                // offset -> bytes
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (bytes, offset)
  int64_t size_ = 0;
  int64_t taken_ = 0, peak_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_ARENA_H_
