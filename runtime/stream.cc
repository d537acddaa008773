#include "runtime/stream.h"

#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace pdl {
namespace {

// Copies complete pieces of 64 bytes to an aligned address.
using CopyLines = void (*)(char* to, const char* from, int64_t bytes);

void CopyLines16(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
}

__attribute__((target("avx512f"))) void CopyLines64(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
  }
}

}  // namespace

bool ExceedsCache(int64_t bytes) {
  static const int64_t cache_bytes = [] {
    const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return size > 0 ? static_cast<int64_t>(size) : int64_t{32} << 20;
  }();
  return bytes > cache_bytes;
}

void StreamCopy(void* to, const void* from, int64_t bytes) {
  static const CopyLines copy_lines = __builtin_cpu_supports("avx512f") ? CopyLines64 : CopyLines16;
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  const int64_t head =
      std::min<int64_t>(bytes, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) & 63));
  const int64_t lines = (bytes - head) / 64 * 64;
  std::memcpy(out, in, static_cast<size_t>(head));
  copy_lines(out + head, in + head, lines);
  std::memcpy(out + head + lines, in + head + lines, static_cast<size_t>(bytes - head - lines));
}

void StreamFence() { _mm_sfence(); }

}  // namespace pdl
