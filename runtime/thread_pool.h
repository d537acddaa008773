// The threads of the process, on which ParallelFor runs its pieces.
#ifndef PDL_RUNTIME_THREAD_POOL_H_
#define PDL_RUNTIME_THREAD_POOL_H_

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl {

/// Calls f(0) … f(pieces - 1), each once, on the calling thread and on up to `threads - 1` others,
/// and returns when all are done. Each thread begins with a range of consecutive pieces of its own,
/// the same part in each call of as many threads, so that it finds in its caches what it computed
/// before; then it takes pieces of others. Calls may be concurrent; each caller processes its own
/// call until that is done, so that none waits for another. Nested calls in a piece run on the
/// calling thread only. The helpers are started at first use, and again in a forked child. There
/// may be up to 2^31 pieces.
void RunPieces(int64_t pieces, int threads, llvm::function_ref<void(int64_t piece)> f);

/// The number of processors that this process may use.
int AvailableProcessors();

}  // namespace pdl

#endif  // PDL_RUNTIME_THREAD_POOL_H_
