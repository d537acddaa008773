// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers:
// as easy as 1, 2, 3; 2011). All devices compute the same stream, in any order.
#ifndef PDL_RUNTIME_PHILOX_H_
#define PDL_RUNTIME_PHILOX_H_

#include <cstdint>

#ifdef __CUDACC__
#define PDL_RANDOM_INLINE __host__ __device__ __forceinline__
#else
#define PDL_RANDOM_INLINE inline __attribute__((always_inline))
#endif

namespace pdl::random {

/// Four random words: one block of a stream.
struct Words {
  uint32_t w0, w1, w2, w3;
};

/// The random stream of one run.
struct Stream {
  uint64_t key;  // of seed and name
  uint64_t run;
};

/// A bijective mix of 64 bits (the finalizer of SplitMix64).
PDL_RANDOM_INLINE uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

PDL_RANDOM_INLINE Stream MakeStream(uint64_t seed, uint64_t run, uint64_t name_hash) {
  return {Mix(seed + 0x9e3779b97f4a7c15u) ^ Mix(name_hash), run};
}

/// Computes block `index` of the stream.
PDL_RANDOM_INLINE Words Philox(Stream stream, uint64_t index) {
  uint32_t c0 = static_cast<uint32_t>(index), c1 = static_cast<uint32_t>(index >> 32);
  uint32_t c2 = static_cast<uint32_t>(stream.run), c3 = static_cast<uint32_t>(stream.run >> 32);
  uint32_t k0 = static_cast<uint32_t>(stream.key), k1 = static_cast<uint32_t>(stream.key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53u} * c0;
    const uint64_t b = uint64_t{0xcd9e8d57u} * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(b);
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(a);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {c0, c1, c2, c3};
}

/// Converts to a number in [0, 1), a multiple of 2^-24.
PDL_RANDOM_INLINE float UnitFloat(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 8)) * 0x1p-24f;
}
/// Converts to a number in [0, 1), a multiple of 2^-53.
PDL_RANDOM_INLINE double UnitDouble(uint32_t high, uint32_t low) {
  const uint64_t bits = (static_cast<uint64_t>(high) << 32 | low) >> 11;
  return static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-53;
}

/// Interpolates between low and high for unit in [0, 1]; never overflows.
template <class T>
PDL_RANDOM_INLINE T Between(T low, T high, T unit) {
  return low * (T(1) - unit) + high * unit;
}

}  // namespace pdl::random

#endif  // PDL_RUNTIME_PHILOX_H_
