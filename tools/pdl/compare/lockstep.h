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

/// A value that a run computed; its partner is found by the name that it has in the first network.
struct SeenValue {
  Tensor tensor;
  std::string op;
  std::string place;
};

/// The tensor of that name in a Scope; empty if there is none.
SeenValue FindSeen(const Scope& scope, llvm::StringRef name);
/// The source location of a value.
std::string PlaceOf(const Graph& graph, const Value& value);

/// Receives the values that both networks compute.
struct LockstepHandler {
  /// Whether values of that name are compared.
  std::function<bool(llvm::StringRef name)> observes;
  /// Called once for each such value, in the order of the first network if the second one computes
  /// them in that order too; never from two threads at once.
  std::function<void(llvm::StringRef name, const SeenValue& first, const SeenValue& second)>
      compare;
};

/// Runs both networks side by side; each one stops at a value to compare until the other has
/// computed it too. Values that come in a different order are kept until the other network has
/// computed them, up to 256 MiB in total; the names of values beyond that are returned in
/// `left_out`. Returns the Error of the run that failed first.
llvm::Error RunLockstep(Side& first, Side& second, const Pairs& pairs, const RunOptions& options_a,
                        const RunOptions& options_b, const LockstepHandler& handler,
                        std::vector<std::string>* left_out);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_LOCKSTEP_H_
