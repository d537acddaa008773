#ifndef PDL_VIEW_DATA_H_
#define PDL_VIEW_DATA_H_

#include <string>

#include "pdl/compiler/graph.h"
#include "pdl/compiler/view.h"

namespace pdl::view {

/// The data of a page as JSON: nodes, levels, placements, values, sources and facts. page/model.js
/// documents its members.
std::string PageData(const Graph& graph, const ViewOptions& options);

}  // namespace pdl::view

#endif  // PDL_VIEW_DATA_H_
