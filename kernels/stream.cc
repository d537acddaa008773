#include "kernels/stream.h"

#include <emmintrin.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace pdl {

bool ExceedsCache(int64_t bytes) {
  static const int64_t cache_bytes = [] {
    const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return size > 0 ? static_cast<int64_t>(size) : int64_t{32} << 20;
  }();
  return bytes > cache_bytes;
}

void StreamCopy(void* to, const void* from, int64_t bytes) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  const int64_t head =
      std::min<int64_t>(bytes, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) & 15));
  std::memcpy(out, in, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + 16 <= bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
  }
  std::memcpy(out + i, in + i, static_cast<size_t>(bytes - i));
}

void StreamFence() { _mm_sfence(); }

}  // namespace pdl
