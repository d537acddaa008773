#include "runtime/arena.h"

#include <algorithm>
#include <iterator>

namespace pdl {

int64_t ArenaLayout::Take(int64_t bytes) {
  bytes = Rounded(bytes);
  taken_ = SaturatingSum({taken_, bytes});
  peak_ = std::max(peak_, taken_);
  auto fit = by_size_.lower_bound({bytes, 0});
  if (fit == by_size_.end()) {
    // Extends a gap at the end.
    int64_t offset = size_;
    if (!gaps_.empty()) {
      auto last = std::prev(gaps_.end());
      if (last->first + last->second == size_) {
        offset = last->first;
        by_size_.erase({last->second, last->first});
        gaps_.erase(last);
      }
    }
    size_ = SaturatingSum({offset, bytes});
    return offset;
  }
  auto [gap, offset] = *fit;
  by_size_.erase(fit);
  gaps_.erase(offset);
  if (gap > bytes) {
    gaps_[offset + bytes] = gap - bytes;
    by_size_.insert({gap - bytes, offset + bytes});
  }
  return offset;
}

void ArenaLayout::GiveBack(int64_t offset, int64_t bytes) {
  bytes = Rounded(bytes);
  taken_ -= bytes;
  auto next = gaps_.lower_bound(offset);
  if (next != gaps_.end() && offset + bytes == next->first) {
    bytes += next->second;
    by_size_.erase({next->second, next->first});
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      by_size_.erase({previous->second, previous->first});
      previous->second += bytes;
      by_size_.insert({previous->second, previous->first});
      return;
    }
  }
  gaps_[offset] = bytes;
  by_size_.insert({bytes, offset});
}

}  // namespace pdl
