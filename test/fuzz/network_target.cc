// A stored network (.pdlc): what loads is stored, printed and run.
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_registry.h"
#include "properties.h"
#include "targets.h"

namespace pdl::fuzz {

/// A network of another program that calls layers is compiled as source.
static void CompileLayerCalls(llvm::StringRef bytes) {
  llvm::Expected<std::string> source = SourceOfIncomplete(bytes, "fuzz.pdlc", GlobalRegistry());
  if (!source) return llvm::consumeError(source.takeError());
  if (source->empty()) return;
  const CompileResult result = CompileText(*source);
  if (result.graph) CheckRoundTrip(*result.graph);
}

void RunNetwork(llvm::StringRef bytes) {
  llvm::Expected<Graph> graph = DeserializeNetwork(bytes, "fuzz.pdlc", GlobalRegistry());
  if (!graph) {
    llvm::consumeError(graph.takeError());
    return CompileLayerCalls(bytes);
  }
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
