#include "runtime/arena.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace pdl {
namespace {

/// Larger arenas are not repacked, which takes quadratic time in the worst case.
constexpr size_t kMaxRepacked = 5'000;

}  // namespace

size_t ArenaLayout::Take(int64_t bytes) {
  Buffer buffer;
  buffer.bytes = Rounded(bytes);
  buffer.begin = time_++;
  taken_ = SaturatingSum({taken_, buffer.bytes});
  peak_ = std::max(peak_, taken_);
  buffer.offset = TakeGap(buffer.bytes);
  buffers_.push_back(buffer);
  return buffers_.size() - 1;
}

void ArenaLayout::GiveBack(size_t index) {
  Buffer& buffer = buffers_[index];
  buffer.end = time_++;
  taken_ -= buffer.bytes;
  AddGap(buffer.offset, buffer.bytes);
}

int64_t ArenaLayout::TakeGap(int64_t bytes) {
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

void ArenaLayout::AddGap(int64_t offset, int64_t bytes) {
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

void ArenaLayout::Finish() {
  auto is_good = [&] { return size_ <= SaturatingSum({peak_, peak_ / 100}); };
  // The sums below do not overflow; a run that needs as much is rejected anyway.
  if (is_good() || buffers_.size() > kMaxRepacked || size_ > INT64_MAX / 4) return;
  std::vector<size_t> order(buffers_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers_[a].bytes > buffers_[b].bytes; });
  Repack(order);
  if (is_good()) return;
  // Those with the largest area, bytes times lifetime, first.
  auto area = [&](size_t index) {
    const Buffer& buffer = buffers_[index];
    return static_cast<double>(buffer.bytes) *
           static_cast<double>(std::min(buffer.end, time_) - buffer.begin);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return area(a) > area(b); });
  Repack(order);
  if (!is_good()) Repack(ByBreadth());
}

std::vector<size_t> ArenaLayout::ByBreadth() const {
  std::vector<int64_t> live(time_ + 1);
  const auto end_of = [&](const Buffer& buffer) { return std::min(buffer.end, time_); };
  for (const Buffer& buffer : buffers_)
    for (size_t time = buffer.begin; time < end_of(buffer); ++time) live[time] += buffer.bytes;
  // The most bytes of any moment of a buffer's life.
  std::vector<int64_t> breadth;
  for (const Buffer& buffer : buffers_)
    breadth.push_back(
        *std::max_element(live.begin() + static_cast<std::ptrdiff_t>(buffer.begin),
                          live.begin() + static_cast<std::ptrdiff_t>(end_of(buffer)) + 1));
  std::vector<size_t> order(buffers_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(breadth[a], buffers_[a].bytes) > std::pair(breadth[b], buffers_[b].bytes);
  });
  return order;
}

void ArenaLayout::Repack(const std::vector<size_t>& order) {
  std::vector<Buffer> placed;  // by offset
  std::vector<int64_t> offsets(buffers_.size());
  int64_t size = 0;
  for (const size_t index : order) {
    Buffer buffer = buffers_[index];
    // The smallest gap between the buffers that exist at the same time.
    int64_t end = 0, best = -1, best_gap = INT64_MAX;
    for (const Buffer& other : placed) {
      if (other.begin >= buffer.end || buffer.begin >= other.end) continue;
      const int64_t gap = other.offset - end;
      if (gap >= buffer.bytes && gap < best_gap) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, other.offset + other.bytes);
    }
    buffer.offset = offsets[index] = best >= 0 ? best : end;
    size = std::max(size, buffer.offset + buffer.bytes);
    if (size >= size_) return;
    const auto at =
        std::upper_bound(placed.begin(), placed.end(), buffer.offset,
                         [](int64_t offset, const Buffer& other) { return offset < other.offset; });
    placed.insert(at, buffer);
  }
  for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i].offset = offsets[i];
  size_ = size;
}

}  // namespace pdl
