#ifndef PDL_FRONTEND_ELABORATE_OBSERVER_H_
#define PDL_FRONTEND_ELABORATE_OBSERVER_H_

#include "frontend/elaborate/datum.h"
#include "frontend/elaborate/text_frame.h"
#include "llvm/ADT/ArrayRef.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/source.h"

namespace pdl {

struct Position;

/// Receives facts that only the elaboration knows, for editors. Source that is elaborated several
/// times, such as a layer, calls the functions each time. Ranges are in `at.file`; values and calls
/// exist until the elaboration ends.
class ElaborationObserver {
 public:
  virtual ~ElaborationObserver() = default;

  /// The definition or use of a name has this value. With `is_size`, the name is the symbol of a
  /// size or a dtype rather than a value of that name.
  virtual void OnName(const Position& at, SourceRange range, const Datum& value, bool is_size) = 0;
  /// A call of an operator was added to the graph. `callee` is its name or its sign.
  virtual void OnCall(const Position& at, SourceRange callee, const Op& op) = 0;
  /// A layer or a file was called.
  virtual void OnLayerCall(const Position& at, const LayerArguments& arguments,
                           llvm::ArrayRef<CallResult> results) = 0;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_OBSERVER_H_
