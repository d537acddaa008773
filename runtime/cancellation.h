// Cancellation within a call.
#ifndef PDL_RUNTIME_CANCELLATION_H_
#define PDL_RUNTIME_CANCELLATION_H_

#include <atomic>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// Runs `f` and returns its Error; while it runs, ParallelFor on this thread starts no further
/// piece once `*cancel` (may be null) is true. `f` then ends by an exception, which becomes an
/// Error of Code::kCancelled: a kernel never continues with results that are incomplete.
llvm::Error RunCancellable(const std::atomic<bool>* cancel, llvm::function_ref<llvm::Error()> f);

/// The flag of the innermost RunCancellable of this thread; null outside of any.
const std::atomic<bool>* CurrentCancellation();

/// If `cancel` is not null and true, ends the RunCancellable that it belongs to. May be called on
/// any thread whose exceptions reach that function, such as one that runs a piece.
void EndIfCancelled(const std::atomic<bool>* cancel);

}  // namespace pdl

#endif  // PDL_RUNTIME_CANCELLATION_H_
