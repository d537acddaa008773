#include "frontend/elaborate/size_constraints.h"

#include "frontend/elaborate/budget.h"

namespace pdl {

void SizeConstraints::Add(DimCheck check, LocationId location) {
  // It takes as much memory as many statements.
  constexpr uint64_t kSteps = 100;
  if (at_.IsRepeated() && !budget_.Spend(kSteps, {})) return;
  known_.Add(check);
  graph_.AddConstraint({std::move(check), location});
}

}  // namespace pdl
