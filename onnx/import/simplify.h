#ifndef PDL_ONNX_IMPORT_SIMPLIFY_H_
#define PDL_ONNX_IMPORT_SIMPLIFY_H_

#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// Copies a graph with readable names, replaces calls that are equivalent to one operator by that
/// operator, and removes unused parameters. `names` are the names of values in the model; `copies`
/// receives the copy of each value that has one.
llvm::Expected<Graph> CompactGraph(const Graph& graph,
                                   const llvm::DenseMap<const Value*, std::string>& names,
                                   llvm::DenseMap<const Value*, const Value*>* copies);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_SIMPLIFY_H_
