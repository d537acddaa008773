#ifndef PDL_VIEW_LAYOUT_H_
#define PDL_VIEW_LAYOUT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl::view {

/// The boxes of one level, with their sizes in pixels, and its edges as pairs of boxes, each pair
/// at most once.
struct Diagram {
  std::vector<std::pair<double, double>> boxes;
  std::vector<std::pair<uint32_t, uint32_t>> edges;
};

/// Where boxes and edges are, in pixels from the upper left corner.
struct Placement {
  int width = 0, height = 0;
  /// The centers of the boxes.
  std::vector<std::pair<int, int>> centers;
  /// The cubic Bezier curve of each edge: x and y of its first point, then of three points for each
  /// segment.
  std::vector<std::vector<int>> curves;
};

/// The placements of diagrams: diagrams that are equal share one.
struct Layout {
  std::vector<Placement> placements;
  /// For each diagram the index of its placement, or -1 if it has none.
  std::vector<int> of;
};

/// Arranges diagrams by Graphviz's program, which runs as another process, for at most ten seconds.
/// There is no placement of diagrams that it has not completed by then, or that have more than 500
/// edges; nor of any if there is no such program in PATH. Names are not passed to it.
Layout PlaceDiagrams(llvm::ArrayRef<Diagram> diagrams, llvm::StringRef program);

}  // namespace pdl::view

#endif  // PDL_VIEW_LAYOUT_H_
