#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

LocationId Position::AddLocation(Graph& graph, uint32_t offset) const {
  const SourcePosition position = frame->module->cursor.At(offset);
  Location location;
  location.file = frame->module->file_index;
  location.line = position.line;
  location.column = position.column;
  location.origin = frame->origin;
  return graph.AddLocation(location);
}

}  // namespace pdl
