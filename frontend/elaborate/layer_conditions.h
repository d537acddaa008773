#ifndef PDL_FRONTEND_ELABORATE_LAYER_CONDITIONS_H_
#define PDL_FRONTEND_ELABORATE_LAYER_CONDITIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Reporter;
class SizeConditions;
class SizeConstraints;

/// Conditions that a layer, or a file that is called, wants its caller to keep.
class LayerConditions {
 public:
  LayerConditions(Position& at, Reporter& report, SizeConstraints& constraints,
                  SizeConditions& conditions, Expressions& expressions)
      : at_(at),
        report_(report),
        constraints_(constraints),
        conditions_(conditions),
        expressions_(expressions) {}

  /// False where a condition is broken, or can be broken by sizes that inputs may have, which was
  /// reported at the call. What nobody can decide becomes a constraint.
  bool CheckCallerKeeps(llvm::ArrayRef<const ast::Expr*> where);

 private:
  /// "N is 3" for each name in the condition that is a size.
  std::vector<std::string> FactsOf(const ast::Expr* condition);

  Position& at_;
  Reporter& report_;
  SizeConstraints& constraints_;
  SizeConditions& conditions_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_CONDITIONS_H_
