// Stores that pass by the cache, for results larger than it.
#ifndef PDL_RUNTIME_STREAM_H_
#define PDL_RUNTIME_STREAM_H_

#include <cstdint>

namespace pdl {

/// Whether a result of so many bytes had better not go through the cache.
bool ExceedsCache(int64_t bytes);
/// Results of rows that are larger than this had better not on any machine, where writing takes
/// turns with work on what was fetched.
inline constexpr int64_t kManyRowBytes = int64_t{32} << 20;

/// As memcpy, with non-temporal stores; StreamFence orders them before what follows.
void StreamCopy(void* to, const void* from, int64_t bytes);
void StreamFence();

}  // namespace pdl

#endif  // PDL_RUNTIME_STREAM_H_
