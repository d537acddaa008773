#ifndef PDL_TEST_CONFORMANCE_ONNX_WRITTEN_H_
#define PDL_TEST_CONFORMANCE_ONNX_WRITTEN_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "onnx/import/import.h"
#include "pdl/runtime/network.h"

namespace pdl::testing {

/// The network of a text; an Error has all that is wrong with it, and the text.
llvm::Expected<Graph> CompileWritten(const std::string& text);

/// The network that the text of an imported one makes, as `pdl import` writes it, with its weights.
struct WrittenNetwork {
  Graph graph;
  llvm::StringMap<Constant> weights;
  int64_t lines = 0;
};
llvm::Expected<WrittenNetwork> WriteAndCompile(const ImportedModel& model);

/// An Error where the text of `pdl dump --emit=pdl` does not compile, or a .pdlc is not read again.
llvm::Error CheckEmitted(const Graph& graph);

/// The outputs of a run on the CPU, by name; the network runs on copies of `feeds`.
llvm::Expected<llvm::StringMap<Constant>> RunOnce(Graph graph, llvm::StringMap<Constant> weights,
                                                  const llvm::StringMap<Constant>& feeds);

/// Which output has other bits, and where; "" where none has.
std::string BitDifference(const llvm::StringMap<Constant>& a, const llvm::StringMap<Constant>& b);

}  // namespace pdl::testing

#endif  // PDL_TEST_CONFORMANCE_ONNX_WRITTEN_H_
