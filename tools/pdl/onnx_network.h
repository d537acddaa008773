#ifndef TOOLS_PDL_ONNX_NETWORK_H_
#define TOOLS_PDL_ONNX_NETWORK_H_

#include <string>
#include <utility>
#include <vector>

#include "pdl/graph.h"
#include "pdl/scope.h"

namespace pdl {

/// --set for each size of the network, as `fed` has it: of a model that is imported with them, all
/// is decided as ONNX decides it when it runs.
std::vector<std::pair<std::string, std::string>> SizesAsSettings(const Graph& graph,
                                                                 const Scope& fed);

}  // namespace pdl

#endif  // TOOLS_PDL_ONNX_NETWORK_H_
