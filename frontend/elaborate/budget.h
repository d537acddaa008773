#ifndef PDL_FRONTEND_ELABORATE_BUDGET_H_
#define PDL_FRONTEND_ELABORATE_BUDGET_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Reporter;

/// Counts the work repeated by loops and layers against the limits of the request. Exceeding a
/// limit is an error that ends the elaboration.
class Budget {
 public:
  /// Counts one level of nesting while it exists.
  class Nesting;

  Budget(const CompileRequest& request, Position& at, Graph& graph, Spent& spent, Reporter& report)
      : request_(request), at_(at), graph_(graph), spent_(spent), report_(report) {}

  /// Whether the request is cancelled; ends the elaboration if it is.
  bool IsCancelled();
  /// Each function below charges a limit; it reports an error and returns false if that is
  /// exceeded.
  bool Spend(uint64_t steps, SourceRange place) { return Take(spent_.steps, steps, place); }
  /// Charges a step if the code may be elaborated repeatedly.
  bool SpendStep(SourceRange place) { return !at_.IsRepeated() || Spend(1, place); }
  /// Charges arithmetic on two sizes, if they are sizes and the code may be repeated.
  bool SpendSizes(const Datum& a, const Datum& b, SourceRange place);
  /// Charges deciding whether a relation holds.
  bool SpendCheck(const DimCheck& check, SourceRange place);
  /// Charges copying `count` items of a list.
  bool SpendItems(uint64_t count, SourceRange place);
  /// Charges a traversal of all items of a list at any depth, except for a list literal.
  bool SpendExtent(const Datum& datum, SourceRange place);
  /// Charges calls of operators, if the code may be repeated, or one call of a layer.
  bool SpendCalls(uint64_t count, SourceRange place);
  bool SpendLayerCall(SourceRange place);
  /// Whether a list of `count` items may grow by `more` items; reports an error if not.
  bool MayGrow(uint64_t count, uint64_t more, SourceRange place);
  /// Reports an error at `place` and returns false if lists and functions are nested too deep.
  bool CheckDepth(unsigned depth, SourceRange place);
  /// The list; poison if it has too many items or is nested too deep.
  Datum MakeList(std::vector<Datum> items, SourceRange place, bool is_copied = false);
  /// Begins or ends a loop. The use of a limit by the outermost loop is extrapolated.
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
  /// The fraction of the iterations of all open loops that is done.
  double ShareOfRounds() const;
  /// Reports the loop or the layer call that exceeds a limit, or else `place`. Returns false.
  bool ReportLimit(const Meter& meter, bool is_estimate, SourceRange place);

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
  /// Reports an error and returns false if the nesting is too deep.
  bool Fits(SourceRange place) const;

 private:
  Budget& budget_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_BUDGET_H_
