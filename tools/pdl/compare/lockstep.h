#ifndef PDL_TOOLS_PDL_COMPARE_LOCKSTEP_H_
#define PDL_TOOLS_PDL_COMPARE_LOCKSTEP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/run_observer.h"
#include "tools/pdl/compare/sides.h"

namespace pdl {

/// A value that a run made, under the name that the first network has for it.
struct SeenValue {
  Tensor tensor;
  std::string op;
  std::string place;
};

/// The tensor of that name in a Scope; an empty one where there is none.
SeenValue FindSeen(const Scope& scope, llvm::StringRef name);
/// Where a value was written.
std::string PlaceOf(const Graph& graph, const Value& value);

/// What is done with the values that both networks make.
struct LockstepHandler {
  /// Values of that name are of interest.
  std::function<bool(llvm::StringRef name)> wants;
  /// Called once for each of them, in the order in which the first network makes them where the
  /// second one makes them in that order too; never from two threads at once.
  std::function<void(llvm::StringRef name, const SeenValue& first, const SeenValue& second)>
      compare;
};

/// Runs both networks side by side, each stopping at a value of interest until the other has come
/// to it. Values that come in another order are kept until the other network has made them, up to
/// `max_kept_bytes`; what would be more is left out, and comes back by name in `left_out`. An Error
/// is that of the run which failed first.
llvm::Error RunLockstep(Side& first, Side& second, const Pairs& pairs, const RunOptions& options_a,
                        const RunOptions& options_b, const LockstepHandler& handler,
                        int64_t max_kept_bytes, std::vector<std::string>* left_out);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_LOCKSTEP_H_
