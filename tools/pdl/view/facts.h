#ifndef PDL_TOOLS_PDL_VIEW_FACTS_H_
#define PDL_TOOLS_PDL_VIEW_FACTS_H_

#include <string>

#include "llvm/Support/Error.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/view.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/run_inputs.h"

namespace pdl {

/// The facts about a network that its page shows.
struct FactsRequest {
  CommonOptions common;
  RunInputs inputs;
  /// Runs to measure; 0: none.
  int64_t profiled_runs = 0;
  bool memory = false;
  bool values = false;
  /// Whether the network is run.
  bool runs() const { return profiled_runs > 0 || values; }
};

/// Runs a network as requested, and adds what is measured to `facts`.
llvm::Error MeasureFacts(const LoadedNetwork& loaded, FactsRequest& request, ViewFacts* facts);

/// Adds the differences of `graph` from the network in the file `before`; if values are requested,
/// also how far the values of the same name differ. `path` is the file of `graph`.
llvm::Error CompareFacts(llvm::StringRef before, llvm::StringRef path, const Graph& graph,
                         FactsRequest& request, ViewFacts* facts);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_VIEW_FACTS_H_
