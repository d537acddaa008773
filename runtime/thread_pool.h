// The threads of the process on which ParallelFor runs its pieces.
#ifndef PDL_RUNTIME_THREAD_POOL_H_
#define PDL_RUNTIME_THREAD_POOL_H_

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl {

/// Calls f(0) … f(pieces - 1), each once, on the calling thread and on up to `threads - 1` others,
/// and returns when all are done. Any number of threads may call at once; each works on its own
/// call until that is done, so none waits for another's. In a piece, the calling thread runs
/// everything itself. The helpers are started at first use, and anew in a forked child.
void RunPieces(int64_t pieces, int threads, llvm::function_ref<void(int64_t piece)> f);

/// The processors that this process may use.
int AvailableProcessors();

}  // namespace pdl

#endif  // PDL_RUNTIME_THREAD_POOL_H_
