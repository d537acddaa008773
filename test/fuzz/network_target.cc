// A stored network (.pdlc): what loads is stored, printed and run.
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_registry.h"
#include "properties.h"
#include "targets.h"

namespace pdl::fuzz {

void RunNetwork(llvm::StringRef bytes) {
  llvm::Expected<Graph> graph = DeserializeNetwork(bytes, "fuzz.pdlc", GlobalRegistry());
  if (!graph) return llvm::consumeError(graph.takeError());
  CheckRoundTrip(*graph);
  RunOnce(*graph);
}

static std::vector<std::string> MakeNetworkSeeds(llvm::StringRef root) {
  std::vector<std::string> seeds = ReadFiles((root + "/test").str(), {".pdlc"});
  for (const std::string& source : SourceSeeds(root)) {
    const CompileResult result = CompileText(source);
    if (!result.graph) continue;
    llvm::Expected<std::string> bytes = SerializeNetwork(*result.graph);
    if (!bytes) RequireSuccess(bytes.takeError(), "a checked network is not stored");
    seeds.push_back(std::move(*bytes));
  }
  return seeds;
}

std::vector<std::string> NetworkSeeds(llvm::StringRef root) {
  // Two targets have them, and a process has one root.
  static const std::vector<std::string> seeds = MakeNetworkSeeds(root);
  return seeds;
}

}  // namespace pdl::fuzz
