#ifndef PDL_FRONTEND_ELABORATE_LAYER_CONDITIONS_H_
#define PDL_FRONTEND_ELABORATE_LAYER_CONDITIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Reporter;
class SizeConditions;
class SizeConstraints;

/// Conditions that a layer, or a called file, requires its caller to satisfy.
class LayerConditions {
 public:
  LayerConditions(Position& at, Reporter& report, SizeConstraints& constraints,
                  SizeConditions& conditions, Expressions& expressions)
      : at_(at),
        report_(report),
        constraints_(constraints),
        conditions_(conditions),
        expressions_(expressions) {}

  /// Reports an error at the call and returns false if a condition does not hold, or sizes of the
  /// inputs can violate it. An undecidable condition becomes a constraint.
  bool CheckCallerKeeps(llvm::ArrayRef<const ast::Expr*> where);

 private:
  /// "N is 3" for each name of a size in the condition.
  std::vector<std::string> FactsOf(const ast::Expr* condition);

  Position& at_;
  Reporter& report_;
  SizeConstraints& constraints_;
  SizeConditions& conditions_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_CONDITIONS_H_
