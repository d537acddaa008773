#ifndef PDL_TOOLS_PDL_BISECT_PASS_SEARCH_H_
#define PDL_TOOLS_PDL_BISECT_PASS_SEARCH_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "tools/pdl/bisect/criterion.h"
#include "tools/pdl/bisect/fed_network.h"

namespace pdl {

/// A step of compilation that can be left out.
struct OptionalStep {
  llvm::StringRef name;
  llvm::StringRef description;
};
/// The optional passes of networks and plans in order, then the fusion of calls: "fuse".
llvm::ArrayRef<OptionalStep> OptionalSteps();

/// Why an output depends on a step of compilation.
struct PassFinding {
  std::string output;
  /// The output has a nan or an infinity, and none without the step.
  bool not_finite = false;
  OptionalStep step;
  /// The first value that is wrong if the network computes nothing else, and that itself.
  ComparedValue first;
  /// The fewest calls for which the step makes that value, the only output, wrong. Nullopt if no
  /// such part of the network shows it.
  std::optional<FedNetwork> smallest;
  /// The number of runs.
  size_t runs = 0;
};

/// Finds the step that makes an output of a Lowered network wrong. The steps named in `suspects`
/// (empty: all) are left out at first, and others never; then they are added in order. `only` names
/// the output to look at; empty: the first one that is wrong. Nullopt if none is.
llvm::Expected<std::optional<PassFinding>> SearchPasses(const FedNetwork& fed,
                                                        llvm::ArrayRef<std::string> suspects,
                                                        llvm::StringRef only,
                                                        const Tolerance& tolerance,
                                                        const RunSetup& setup);

/// Whether the only output of a network is wrong because of a step that SearchPasses found.
llvm::Expected<bool> ShowsWrongPass(const FedNetwork& fed, const PassFinding& finding,
                                    llvm::ArrayRef<std::string> suspects,
                                    const Tolerance& tolerance, const RunSetup& setup);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_PASS_SEARCH_H_
