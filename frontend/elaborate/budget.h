#ifndef PDL_FRONTEND_ELABORATE_BUDGET_H_
#define PDL_FRONTEND_ELABORATE_BUDGET_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Reporter;

/// Counts what loops and layers repeat against the limits of the request; what goes beyond one is
/// reported, and ends the elaboration.
class Budget {
 public:
  /// While one exists, something stands inside something.
  class Nesting;

  Budget(const CompileRequest& request, Position& at, Graph& graph, Spent& spent, Reporter& report)
      : request_(request), at_(at), graph_(graph), spent_(spent), report_(report) {}

  /// Each function below takes from a limit: false where that goes beyond, which was reported.
  bool Spend(uint64_t steps, SourceRange place) { return Take(spent_.steps, steps, place); }
  /// Takes a step for what is repeated.
  bool SpendStep(SourceRange place) { return !at_.IsRepeated() || Spend(1, place); }
  /// Takes what arithmetic of two sizes costs, where they are sizes and it is repeated.
  bool SpendSizes(const Datum& a, const Datum& b, SourceRange place);
  /// The same for deciding whether a relation holds.
  bool SpendCheck(const DimCheck& check, SourceRange place);
  /// Takes what copying so many items of a list costs.
  bool SpendItems(uint64_t count, SourceRange place);
  /// Takes what a walk over all that stands in a list costs, but for one that is written here.
  bool SpendExtent(const Datum& datum, SourceRange place);
  /// The same for calls of operators, where they are repeated, and for one of a layer.
  bool SpendCalls(uint64_t count, SourceRange place);
  bool SpendLayerCall(SourceRange place);
  /// Whether a list of `count` items may grow by `more` items; reports where it may not.
  bool MayGrow(uint64_t count, uint64_t more, SourceRange place);
  /// Reports at `place` where lists and functions stand inside each other too deep; false then.
  bool CheckDepth(unsigned depth, SourceRange place);
  /// The list; poison where there are too many items, or lists inside lists.
  Datum MakeList(std::vector<Datum> items, SourceRange place, bool is_copied = false);
  /// A loop begins or ends: how much of a limit the outermost one takes is extrapolated.
  void OpenLoop();
  void CloseLoop() { --at_.open_loops; }

 private:
  bool Take(Meter& meter, uint64_t count, SourceRange place) {
    if (meter.used <= meter.look && count <= meter.look - meter.used) {
      meter.used += count;
      return true;
    }
    return LookAndTake(meter, count, place);
  }
  bool LookAndTake(Meter& meter, uint64_t count, SourceRange place);
  /// The share of the rounds of all open loops that is done.
  double ShareOfRounds() const;
  /// Reports the loop or the call of a layer that goes beyond a limit, or else `place`; false.
  bool ReportLimit(const Meter& meter, SourceRange place);

  const CompileRequest& request_;
  Position& at_;
  Graph& graph_;
  Spent& spent_;
  Reporter& report_;
};

class Budget::Nesting {
 public:
  explicit Nesting(Budget& budget) : budget_(budget) { ++budget_.at_.nesting; }
  ~Nesting() { --budget_.at_.nesting; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  /// False where that is too deep, which was reported.
  bool Fits(SourceRange place) const;

 private:
  Budget& budget_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_BUDGET_H_
