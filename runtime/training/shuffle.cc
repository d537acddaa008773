#include "runtime/training/shuffle.h"

#include <cstddef>
#include <numeric>
#include <utility>

#include "runtime/philox.h"

namespace pdl {
namespace {

/// The consecutive words of a random stream.
class WordSource {
 public:
  explicit WordSource(random::Stream stream) : stream_(stream) {}

  uint64_t Next() {
    has_second_ = !has_second_;
    if (!has_second_) return second_;
    const random::Words words = random::Philox(stream_, block_++);
    second_ = static_cast<uint64_t>(words.w2) << 32 | words.w3;
    return static_cast<uint64_t>(words.w0) << 32 | words.w1;
  }

  /// A uniform number below `bound` (Lemire: Fast random integer generation in an interval, 2019).
  uint64_t Below(uint64_t bound) {
    for (;;) {
      const unsigned __int128 product = static_cast<unsigned __int128>(Next()) * bound;
      if (static_cast<uint64_t>(product) >= -bound % bound)
        return static_cast<uint64_t>(product >> 64);
    }
  }

 private:
  random::Stream stream_;
  uint64_t block_ = 0;
  uint64_t second_ = 0;
  bool has_second_ = false;
};

/// Differs from the hashes of all value names, whose streams are separate.
constexpr uint64_t kShuffle = 0x73687566666c6521u;

}  // namespace

std::vector<int64_t> ShuffledRows(int64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  WordSource words(random::MakeStream(seed, epoch, kShuffle));
  for (uint64_t last = rows.size(); last > 1; --last)
    std::swap(rows[last - 1], rows[words.Below(last)]);
  return rows;
}

}  // namespace pdl
