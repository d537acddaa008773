#ifndef PDL_ONNX_IMPORT_SIMPLIFY_H_
#define PDL_ONNX_IMPORT_SIMPLIFY_H_

#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// A copy of a graph under names for people, with one call where several spell an operator out, and
/// without parameters that nothing uses. `names` are the model's names of values; `copies` is given
/// the copy of each value that has one.
llvm::Expected<Graph> CompactGraph(const Graph& graph,
                                   const llvm::DenseMap<const Value*, std::string>& names,
                                   llvm::DenseMap<const Value*, const Value*>* copies);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_SIMPLIFY_H_
