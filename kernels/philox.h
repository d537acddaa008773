// Random numbers by counter: Philox4x32-10, from Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", 2011. The same on every device. Room: kernels
#ifndef PDL_KERNELS_PHILOX_H_
#define PDL_KERNELS_PHILOX_H_

#include <cstdint>

#ifdef __CUDACC__
#define PDL_PHILOX_INLINE __host__ __device__ __forceinline__
#else
#define PDL_PHILOX_INLINE inline __attribute__((always_inline))
#endif

namespace pdl {

/// Four random words.
struct PhiloxBlock {
  uint32_t words[4];
};

/// Encrypts the counter with the key.
PDL_PHILOX_INLINE PhiloxBlock Philox(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  uint32_t c0 = counter.words[0], c1 = counter.words[1];
  uint32_t c2 = counter.words[2], c3 = counter.words[3];
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * c0;
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ key0;
    const uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ key1;
    c1 = static_cast<uint32_t>(product1);
    c3 = static_cast<uint32_t>(product0);
    c0 = next0;
    c2 = next2;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// The numbers of one call in one run. Each block of four words is found without those before it.
struct RandomStream {
  uint64_t key;
  uint64_t run;

  /// `seed` and `run` are a run's RandomState, `call` is its OperatorBase::stream_key().
  PDL_PHILOX_INLINE RandomStream(uint64_t seed, uint64_t run_count, uint64_t call)
      : key(Mix(Mix(seed) ^ call)), run(run_count) {}

  PDL_PHILOX_INLINE PhiloxBlock Block(uint64_t number) const {
    const PhiloxBlock counter = {{static_cast<uint32_t>(number),
                                  static_cast<uint32_t>(number >> 32), static_cast<uint32_t>(run),
                                  static_cast<uint32_t>(run >> 32)}};
    return Philox(counter, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32));
  }

 private:
  // The finalizer of SplitMix64: one to one, and every bit of the result depends on every bit of x.
  static PDL_PHILOX_INLINE uint64_t Mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
};

// A block makes four floats (halves are made of floats) or two doubles.

/// In [0, 1), a multiple of 2^-24.
PDL_PHILOX_INLINE float UniformFloat(const PhiloxBlock& block, int i) {
  return static_cast<float>(block.words[i] >> 8) * 0x1p-24f;
}
/// In [0, 1), a multiple of 2^-53.
PDL_PHILOX_INLINE double UniformDouble(const PhiloxBlock& block, int i) {
  const uint64_t bits = uint64_t{block.words[2 * i + 1]} << 32 | block.words[2 * i];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Normal numbers come in pairs, by Box and Muller: r cos(2 pi v) and r sin(2 pi v), where
// r = sqrt(-2 log(u)). Numbers 2 i and 2 i + 1 of a block are made of u and v number i.

/// u of pair i, in (0, 1].
PDL_PHILOX_INLINE float RadiusFloat(const PhiloxBlock& block, int i) {
  return (static_cast<float>(block.words[2 * i]) + 0.5f) * 0x1p-32f;
}
/// v of pair i, in [0, 1).
PDL_PHILOX_INLINE float AngleFloat(const PhiloxBlock& block, int i) {
  return UniformFloat(block, 2 * i + 1);
}
/// u and v of a block's one pair of doubles.
PDL_PHILOX_INLINE double RadiusDouble(const PhiloxBlock& block) {
  return UniformDouble(block, 0) + 0x1p-54;
}
PDL_PHILOX_INLINE double AngleDouble(const PhiloxBlock& block) { return UniformDouble(block, 1); }

}  // namespace pdl

#endif  // PDL_KERNELS_PHILOX_H_
