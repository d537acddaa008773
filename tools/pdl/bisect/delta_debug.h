#ifndef PDL_TOOLS_PDL_BISECT_DELTA_DEBUG_H_
#define PDL_TOOLS_PDL_BISECT_DELTA_DEBUG_H_

#include <cstddef>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// Whether a subset of 0..n-1, given in ascending order, shows a failure.
using ShowsFailure = llvm::function_ref<llvm::Expected<bool>(llvm::ArrayRef<size_t> subset)>;

/// Delta debugging (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002;
/// the algorithm ddmin). Returns a subset of 0..n-1 that shows the failure, and no longer does if
/// any one element is removed. The complete set must show it; the empty set is not tried. Tries
/// O(log n) subsets if one element causes the failure, and at most O(n²). Returns the first Error
/// of `shows`.
llvm::Expected<std::vector<size_t>> DeltaDebug(size_t n, ShowsFailure shows);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_DELTA_DEBUG_H_
