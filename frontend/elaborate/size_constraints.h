#ifndef PDL_FRONTEND_ELABORATE_SIZE_CONSTRAINTS_H_
#define PDL_FRONTEND_ELABORATE_SIZE_CONSTRAINTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;

/// The relations between sizes that are known to hold, which are also the graph's constraints.
class SizeConstraints {
 public:
  SizeConstraints(Position& at, Graph& graph, ConstraintSet& known, Budget& budget)
      : at_(at), graph_(graph), known_(known), budget_(budget) {}

  /// Adds a relation that holds from here on.
  void Add(DimCheck check, LocationId location);
  Truth Decide(const DimCheck& check) const { return known_.Decide(check); }
  /// Sizes of the inputs that violate the relation, if any are found.
  std::optional<Counterexample> Refute(const DimCheck& check) const { return known_.Refute(check); }

 private:
  Position& at_;
  Graph& graph_;
  ConstraintSet& known_;
  Budget& budget_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_SIZE_CONSTRAINTS_H_
