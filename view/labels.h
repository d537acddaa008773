#ifndef PDL_VIEW_LABELS_H_
#define PDL_VIEW_LABELS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pdl/compiler/graph.h"
#include "view/layout.h"
#include "view/levels.h"

namespace pdl::view {

/// The size of a value in bytes; nullopt if its dims are not constant, or it is ragged or sparse.
std::optional<int64_t> BytesOf(const Type& type);
/// "28.3 MB".
std::string FormatBytes(int64_t bytes);
/// "12 parameters, 28.3 MB"; empty if there are none. The size is that of those whose size is
/// known.
std::string SummarizeVariables(llvm::ArrayRef<const Value*> variables);

/// The lines of a box below its title.
std::vector<std::string> LinesOf(const Node& node);

/// The boxes of a level, large enough for their labels, and its edges.
Diagram DiagramOf(const Levels& levels, const Level& level);

}  // namespace pdl::view

#endif  // PDL_VIEW_LABELS_H_
