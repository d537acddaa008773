#ifndef PDL_TOOLS_PDL_SUPPORT_ONNX_NETWORK_H_
#define PDL_TOOLS_PDL_SUPPORT_ONNX_NETWORK_H_

#include <string>
#include <utility>
#include <vector>

#include "pdl/compiler/graph.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// A --set value for each symbolic size of the network, as in `fed`: a model imported with them
/// treats all sizes as ONNX does at run time.
std::vector<std::pair<std::string, std::string>> SizesAsSettings(const Graph& graph,
                                                                 const Scope& fed);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_ONNX_NETWORK_H_
