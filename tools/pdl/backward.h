#ifndef TOOLS_PDL_BACKWARD_H_
#define TOOLS_PDL_BACKWARD_H_

#include <vector>

#include "pdl/graph.h"

namespace pdl {

/// Gradients with respect to `wrt` of the sum of `outputs` times `cotangents`, emitted into the
/// graph by the rules; null where nothing flows. An Error where a call on the way has no rule.
llvm::Expected<std::vector<Value*>> Backward(Graph& graph, llvm::ArrayRef<Value*> outputs,
                                             llvm::ArrayRef<Value*> cotangents,
                                             llvm::ArrayRef<Value*> wrt);

}  // namespace pdl

#endif  // TOOLS_PDL_BACKWARD_H_
