// SHA-256, FIPS 180-4, https://doi.org/10.6028/NIST.FIPS.180-4
// LLVM's implementation counts bytes in 32 bits, so it is wrong from 4 GiB on.
#include <array>
#include <bit>
#include <cstring>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "pdl/runtime/io.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pdl {
namespace {

using State = std::array<uint32_t, 8>;
using Compress = void (*)(State& state, const uint8_t* blocks, size_t count);

constexpr size_t kBlock = 64;

alignas(16) constexpr uint32_t kConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void CompressPortably(State& state, const uint8_t* blocks, size_t count) {
  for (; count > 0; --count, blocks += kBlock) {
    uint32_t w[64];
    for (int t = 0; t < 16; ++t) w[t] = llvm::support::endian::read32be(blocks + 4 * t);
    for (int t = 16; t < 64; ++t) {
      uint32_t x = w[t - 15], y = w[t - 2];
      uint32_t s0 = std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3;
      uint32_t s1 = std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10;
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (int t = 0; t < 64; ++t) {
      uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kConstants[t] + w[t];
      uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t next[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] += next[i];
  }
}

#if defined(__x86_64__)
/// Like Compress, with the processor's SHA instructions, which keep the state as {f, e, b, a} and
/// {h, g, d, c}.
__attribute__((target("sha,sse4.1"))) void CompressBySha(State& state, const uint8_t* blocks,
                                                         size_t count) {
  const __m128i byte_swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto load = [](const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
  __m128i dcba = _mm_shuffle_epi32(load(&state[0]), 0xb1);
  __m128i hgfe = _mm_shuffle_epi32(load(&state[4]), 0x1b);
  __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0);
  for (; count > 0; --count, blocks += kBlock) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) w[i] = _mm_shuffle_epi8(load(blocks + 16 * i), byte_swap);
    for (int group = 0; group < 16; ++group) {
      __m128i& now = w[group % 4];
      if (group >= 4) {
        const __m128i last = w[(group + 3) % 4];
        __m128i sum = _mm_sha256msg1_epu32(now, w[(group + 1) % 4]);
        sum = _mm_add_epi32(sum, _mm_alignr_epi8(last, w[(group + 2) % 4], 4));
        now = _mm_sha256msg2_epu32(sum, last);
      }
      const __m128i keyed = _mm_add_epi32(now, load(&kConstants[4 * group]));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, keyed);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(keyed, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[0]), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[4]), _mm_alignr_epi8(dchg, feba, 8));
}

bool HasSha() {
  // __builtin_cpu_supports of this compiler does not know "sha".
  unsigned a = 7, b = 0, c = 0, d = 0;
  asm("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (b >> 29 & 1) != 0 && __builtin_cpu_supports("sse4.1");
}
#endif

Compress ChooseCompress() {
#if defined(__x86_64__)
  if (HasSha()) return CompressBySha;
#endif
  return CompressPortably;
}

}  // namespace

std::string Sha256(const Constant& constant) {
  static const Compress compress = ChooseCompress();
  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto* data = static_cast<const uint8_t*>(constant.data());
  const auto size = static_cast<size_t>(constant.num_bytes());
  compress(state, data, size / kBlock);

  // The remaining bytes, a one bit, zeros, and the number of bits.
  uint8_t tail[2 * kBlock] = {};
  size_t rest = size % kBlock;
  if (rest > 0) std::memcpy(tail, data + (size - rest), rest);
  tail[rest] = 0x80;
  size_t tail_blocks = rest + 9 <= kBlock ? 1 : 2;
  llvm::support::endian::write64be(tail + tail_blocks * kBlock - 8, uint64_t{size} * 8);
  compress(state, tail, tail_blocks);

  uint8_t digest[32];
  for (int i = 0; i < 8; ++i) llvm::support::endian::write32be(digest + 4 * i, state[i]);
  return llvm::toHex(llvm::ArrayRef<uint8_t>(digest), /*LowerCase=*/true);
}

}  // namespace pdl
