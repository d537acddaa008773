#ifndef PDL_TEST_CONFORMANCE_ONNX_WRITTEN_H_
#define PDL_TEST_CONFORMANCE_ONNX_WRITTEN_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "onnx/import/import.h"
#include "pdl/runtime/network.h"

namespace pdl::testing {

/// Compiles source; the Error has all messages, and the source.
llvm::Expected<Graph> CompileWritten(const std::string& text);

/// The network compiled from the source that `pdl import` emits for a model, with its weights.
struct WrittenNetwork {
  Graph graph;
  llvm::StringMap<Constant> weights;
  int64_t lines = 0;
};
llvm::Expected<WrittenNetwork> WriteAndCompile(const ImportedModel& model);

/// Returns an Error if the source of `pdl dump --emit=pdl` does not compile, or a .pdlc cannot be
/// loaded.
llvm::Error CheckEmitted(const Graph& graph);

/// The outputs of a run on the CPU, by name; the network runs on copies of `feeds`.
llvm::Expected<llvm::StringMap<Constant>> RunOnce(Graph graph, llvm::StringMap<Constant> weights,
                                                  const llvm::StringMap<Constant>& feeds);

/// The output that differs, and the index; "" if all have the same bits.
std::string BitDifference(const llvm::StringMap<Constant>& a, const llvm::StringMap<Constant>& b);

}  // namespace pdl::testing

#endif  // PDL_TEST_CONFORMANCE_ONNX_WRITTEN_H_
