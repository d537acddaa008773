#ifndef PDL_TOOLS_PDL_BISECT_FINITE_SEARCH_H_
#define PDL_TOOLS_PDL_BISECT_FINITE_SEARCH_H_

#include <optional>
#include <string>

#include "llvm/Support/Error.h"
#include "tools/pdl/bisect/fed_network.h"

namespace pdl {

/// The first call of a run that computes a nan or an infinity from finite numbers.
struct FiniteFinding {
  /// The name of the result, and what RunOptions::check_finite says about the call.
  std::string value, message;
  /// The fewest calls whose only output, the value, has a nan or an infinity. Nullopt if no part
  /// of the network shows it.
  std::optional<FedNetwork> smallest;
};

/// Finds that call in a Lowered network; nullopt if there is none. An Error if an input, parameter
/// or state holds a nan or an infinity.
llvm::Expected<std::optional<FiniteFinding>> SearchNotFinite(const FedNetwork& fed,
                                                             const RunSetup& setup);

/// Whether the only output of a network holds a nan or an infinity.
llvm::Expected<bool> ShowsNotFinite(const FedNetwork& fed, const RunSetup& setup);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_FINITE_SEARCH_H_
