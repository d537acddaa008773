#ifndef PDL_TEST_CC_TESTING_RANDOM_SOURCE_H_
#define PDL_TEST_CC_TESTING_RANDOM_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <random>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

/// Random decisions: from a seed, or from the bytes of a fuzzer, which thereby mutates decisions.
class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : random_(seed) {}
  /// Each decision takes a byte, or two if there are more than 256 possibilities. After the last
  /// byte, decisions are those of seed 0. `bytes` must outlive this object.
  explicit RandomSource(llvm::StringRef bytes) : random_(0), bytes_(bytes) {}

  /// A number in [0, n); `n` must not be 0.
  uint32_t Below(size_t n) {
    if (bytes_.empty()) return static_cast<uint32_t>(random_() % n);
    uint32_t number = Byte();
    if (n > 256 && !bytes_.empty()) number = number << 8 | Byte();
    return static_cast<uint32_t>(number % n);
  }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  template <typename T>
  const T& Pick(llvm::ArrayRef<T> items) {
    return items[Below(items.size())];
  }
  /// A generator of many numbers, whose seed is one decision.
  std::mt19937_64 Numbers() { return std::mt19937_64(Below(1 << 16)); }

 private:
  uint8_t Byte() {
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_ = bytes_.drop_front();
    return byte;
  }

  std::mt19937_64 random_;
  llvm::StringRef bytes_;
};

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_SOURCE_H_
