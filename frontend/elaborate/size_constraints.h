#ifndef PDL_FRONTEND_ELABORATE_SIZE_CONSTRAINTS_H_
#define PDL_FRONTEND_ELABORATE_SIZE_CONSTRAINTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;

/// The relations between sizes that are known to hold, which are also the graph's constraints.
class SizeConstraints {
 public:
  SizeConstraints(Position& at, Graph& graph, SizeState& sizes, Budget& budget)
      : at_(at), graph_(graph), sizes_(sizes), budget_(budget) {}

  /// Adds a relation that holds from here on.
  void Add(DimCheck check, LocationId location);
  /// Adds relations that hold together. Each on its own can hold; returns false, after having added
  /// some of them, if no sizes satisfy all.
  bool AddAll(std::vector<DimCheck> checks, LocationId location);
  Truth Decide(const DimCheck& check) const { return sizes_.known.Decide(check); }
  /// Sizes of the inputs that violate the relation, if any are found.
  std::optional<Counterexample> Refute(const DimCheck& check) const {
    return sizes_.known.Refute(check);
  }
  /// If no sizes of at least 1 satisfy the relation, returns a note that shows sizes for which it
  /// does not hold: 30*N == 28*N holds for N=0 only. Such a relation is undecided, since runs may
  /// be empty, but it is an error in the source. Certain, but not complete: bounds decide. Returns
  /// nullopt in the branches of an `if` that a Plan decides, which may be those for empty sizes.
  std::optional<std::string> NoteIfOnlyEmpty(const DimCheck& check);

 private:
  /// Extends `sizes_.nonempty` by the symbols of a size.
  void AssumeNonempty(const Dim& size);

  Position& at_;
  Graph& graph_;
  SizeState& sizes_;
  Budget& budget_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_SIZE_CONSTRAINTS_H_
