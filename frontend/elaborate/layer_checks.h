#ifndef PDL_FRONTEND_ELABORATE_LAYER_CHECKS_H_
#define PDL_FRONTEND_ELABORATE_LAYER_CHECKS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class AttributeChecker;
class CalleeTable;
class Functions;
class Reporter;

/// Checks of a layer's definition that do not depend on its calls.
class LayerChecks {
 public:
  LayerChecks(Position& at, Reporter& report, CalleeTable& callees, AttributeChecker& attributes,
              Functions& functions)
      : at_(at),
        report_(report),
        callees_(callees),
        attributes_(attributes),
        functions_(functions) {}

  /// Reports errors in the definition of a layer of this module.
  void CheckLayer(const ast::LayerStatement& layer, Module* module);

 private:
  void CheckDefaults(const ast::LayerStatement& layer, Module* module);

  Position& at_;
  Reporter& report_;
  CalleeTable& callees_;
  AttributeChecker& attributes_;
  Functions& functions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_CHECKS_H_
