#include "runtime/arena.h"

#include <random>

#include "gtest/gtest.h"

namespace pdl {
namespace {

/// A layout whose buffers are recorded with their lifetimes.
class RecordedLayout {
 public:
  size_t Take(int64_t bytes) {
    const size_t buffer = layout_.Take(bytes);
    buffers_.push_back({bytes, time_++, SIZE_MAX});
    EXPECT_EQ(buffer + 1, buffers_.size());
    return buffer;
  }
  void GiveBack(size_t buffer) {
    layout_.GiveBack(buffer);
    buffers_[buffer].end = time_++;
  }
  /// Checks that no two buffers that exist at the same time overlap.
  const ArenaLayout& Finish() {
    layout_.Finish();
    EXPECT_GE(layout_.size(), layout_.peak());
    for (size_t a = 0; a < buffers_.size(); ++a) {
      const int64_t begin = layout_.OffsetOf(a), end = begin + buffers_[a].bytes;
      EXPECT_EQ(begin % ArenaLayout::kAlignment, 0);
      EXPECT_LE(end, layout_.size());
      for (size_t b = 0; b < a; ++b) {
        if (buffers_[a].begin >= buffers_[b].end || buffers_[b].begin >= buffers_[a].end) continue;
        EXPECT_TRUE(end <= layout_.OffsetOf(b) || layout_.OffsetOf(b) + buffers_[b].bytes <= begin)
            << a << ' ' << b;
      }
    }
    return layout_;
  }

 private:
  struct Buffer {
    int64_t bytes;
    size_t begin, end;
  };
  ArenaLayout layout_;
  std::vector<Buffer> buffers_;
  size_t time_ = 0;
};

TEST(ArenaLayout, BuffersThatExistAtTheSameTimeDoNotOverlap) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    RecordedLayout layout;
    std::vector<size_t> live;
    for (int i = 0; i < 150; ++i) {
      if (live.empty() || random() % 2 == 0) {
        live.push_back(layout.Take(static_cast<int64_t>(random() % 5 * (random() % 2000))));
      } else {
        const size_t at = random() % live.size();
        layout.GiveBack(live[at]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    layout.Finish();
  }
}

TEST(ArenaLayout, LargeBuffersGetTheirOffsetsFirst) {
  // In order of time, the gap of the first buffer is 64 bytes too short for the third one.
  RecordedLayout layout;
  const size_t large = layout.Take(10 * 64);
  const size_t small = layout.Take(64);
  layout.GiveBack(large);
  const size_t larger = layout.Take(11 * 64);
  layout.GiveBack(small);
  layout.GiveBack(larger);
  EXPECT_EQ(layout.Finish().size(), 12 * 64);
}

TEST(ArenaLayout, EmptyLayoutsAndEmptyBuffers) {
  ArenaLayout empty;
  empty.Finish();
  EXPECT_EQ(empty.size(), 0);
  RecordedLayout layout;
  layout.Take(0);
  layout.Take(0);
  EXPECT_EQ(layout.Finish().size(), 2 * 64);
}

TEST(ArenaLayout, SizesSaturate) {
  ArenaLayout layout;
  layout.Take(INT64_MAX);
  layout.Take(INT64_MAX);
  layout.Finish();
  EXPECT_EQ(layout.size(), INT64_MAX);
}

}  // namespace
}  // namespace pdl
