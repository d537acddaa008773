#ifndef PDL_TOOLS_PDL_BISECT_VERSION_SEARCH_H_
#define PDL_TOOLS_PDL_BISECT_VERSION_SEARCH_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/Support/Error.h"
#include "tools/pdl/bisect/criterion.h"
#include "tools/pdl/bisect/versions.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// Why an output of two versions of a network is wrong in one of them.
struct VersionFinding {
  std::string output;
  /// The output has a nan or an infinity, and the right one has none.
  bool not_finite = false;
  /// All changes, and the indices of the fewest that make the output wrong.
  std::vector<VersionChange> changes;
  std::vector<size_t> causes;
  /// The first value that is wrong with these changes only.
  ComparedValue first;
  /// The calls between the changes and that value, in both forms: outputs `good` and `bad`. Nullopt
  /// if no such part of the network shows it.
  std::optional<FedNetwork> smallest;
  /// The number of runs.
  size_t runs = 0;
};

/// Whether the outputs `good` and `bad` of a network show that `bad` is wrong.
llvm::Expected<bool> ShowsWrongOutput(const FedNetwork& fed, const RunSetup& setup,
                                      const Criterion& criterion);

/// Finds the fewest changes between two versions that make an output wrong. `only` names the output
/// to look at; empty: the first one that is wrong, preferably with a nan or an infinity. Nullopt if
/// none is.
llvm::Expected<std::optional<VersionFinding>> SearchVersions(
    const FedNetwork& good, const FedNetwork& bad, llvm::StringRef only, const Tolerance& tolerance,
    const RunSetup& setup, const CommonOptions& common);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_VERSION_SEARCH_H_
