#ifndef PDL_TOOLS_PDL_BISECT_REPORT_H_
#define PDL_TOOLS_PDL_BISECT_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "tools/pdl/bisect/fed_network.h"
#include "tools/pdl/compare/tolerance.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/run_inputs.h"

namespace pdl {

/// The options of a search.
struct BisectRequest {
  CommonOptions common;
  RunInputs inputs;
  Tolerance tolerance;
  /// The output to look at; empty: all.
  std::string only;
  /// The names of the passes to suspect; empty: all.
  std::vector<std::string> suspects;
  /// The file for the smallest network, or empty.
  std::string out;
};

/// The result of a search, as lines and as JSON.
struct BisectReport {
  std::string text;
  llvm::json::Object json;
  std::optional<FedNetwork> smallest;
};

// Each loads networks, searches, and writes the smallest network. Nullopt: nothing is wrong. Errors
// are those of loading and running the networks.

/// The changes from one version of a network to another; see SearchVersions.
llvm::Expected<std::optional<BisectReport>> BisectVersions(llvm::StringRef good,
                                                           llvm::StringRef bad,
                                                           BisectRequest& request);
/// The passes of the compiler; see SearchPasses.
llvm::Expected<std::optional<BisectReport>> BisectPasses(llvm::StringRef path,
                                                         BisectRequest& request);
/// The calls that give a nan or an infinity; see SearchNotFinite.
llvm::Expected<std::optional<BisectReport>> BisectFinite(llvm::StringRef path,
                                                         BisectRequest& request);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_REPORT_H_
