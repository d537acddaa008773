// Random permutations whose elements are computed independently of each other, the same on every
// device.
#ifndef PDL_KERNELS_CREATION_PERMUTATION_H_
#define PDL_KERNELS_CREATION_PERMUTATION_H_

#include "runtime/philox.h"

namespace pdl::random {

/// A permutation of the numbers below n: a Feistel network over as many bits as n needs, repeated
/// until the number is below n (Mitchell et al., "Bandwidth-optimal random shuffling for GPUs",
/// arXiv:2106.06161).
struct Permutation {
  static constexpr int kRounds = 24;

  uint64_t n = 0;
  uint32_t low_bits = 2, high_bits = 2;
  uint64_t keys[kRounds] = {};

  PDL_RANDOM_INLINE uint64_t At(uint64_t index) const {
    const uint64_t low_mask = (uint64_t{1} << low_bits) - 1;
    const uint64_t high_mask = (uint64_t{1} << high_bits) - 1;
    do {
      uint64_t low = index & low_mask, high = index >> low_bits;
      for (int round = 0; round < kRounds; round += 2) {
        high = (high ^ Mix(low + keys[round])) & high_mask;
        low = (low ^ Mix(high + keys[round + 1])) & low_mask;
      }
      index = high << low_bits | low;
    } while (index >= n);
    return index;
  }
};

/// Makes a permutation of the numbers below n, with keys from the first blocks of the stream.
inline Permutation MakePermutation(Stream stream, int64_t n) {
  Permutation permutation;
  permutation.n = static_cast<uint64_t>(n);
  uint32_t bits = 4;
  while (bits < 63 && (permutation.n >> bits) != 0) ++bits;
  permutation.low_bits = bits / 2;
  permutation.high_bits = bits - bits / 2;
  for (int i = 0; i < Permutation::kRounds; i += 2) {
    const Words words = Philox(stream, static_cast<uint64_t>(i / 2));
    permutation.keys[i] = static_cast<uint64_t>(words.w0) << 32 | words.w1;
    permutation.keys[i + 1] = static_cast<uint64_t>(words.w2) << 32 | words.w3;
  }
  return permutation;
}

}  // namespace pdl::random

#endif  // PDL_KERNELS_CREATION_PERMUTATION_H_
