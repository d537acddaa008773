#ifndef PDL_TOOLS_PDL_SUPPORT_ONNX_NETWORK_H_
#define PDL_TOOLS_PDL_SUPPORT_ONNX_NETWORK_H_

#include <string>
#include <utility>
#include <vector>

#include "pdl/compiler/graph.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// --set for each size of the network, as `fed` has it: of a model that is imported with them, all
/// is decided as ONNX decides it when it runs.
std::vector<std::pair<std::string, std::string>> SizesAsSettings(const Graph& graph,
                                                                 const Scope& fed);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_ONNX_NETWORK_H_
