// Streaming stores, which bypass the cache, for results larger than it.
#ifndef PDL_RUNTIME_STREAM_H_
#define PDL_RUNTIME_STREAM_H_

#include <cstdint>

namespace pdl {

/// Whether a result of this size should bypass the cache.
bool ExceedsCache(int64_t bytes);
/// Results of row producers larger than this should bypass the cache on any machine, because writes
/// alternate with reads.
inline constexpr int64_t kManyRowBytes = int64_t{32} << 20;

/// Like memcpy, with non-temporal stores; StreamFence orders them before later ones.
void StreamCopy(void* to, const void* from, int64_t bytes);
void StreamFence();

}  // namespace pdl

#endif  // PDL_RUNTIME_STREAM_H_
