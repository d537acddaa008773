#ifndef PDL_FRONTEND_ELABORATE_EXPECTATIONS_H_
#define PDL_FRONTEND_ELABORATE_EXPECTATIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Literals;
class Reporter;
class TestOutputs;

/// `expect`: the comparisons of a test run.
class Expectations {
 public:
  Expectations(Position& at, TestRun& test, Reporter& report, Literals& literals,
               Expressions& expressions, TestOutputs& test_outputs)
      : at_(at),
        test_(test),
        report_(report),
        literals_(literals),
        expressions_(expressions),
        test_outputs_(test_outputs) {}

  /// Adds the comparison to the test run.
  void ElaborateExpect(const ast::ExpectStatement* statement);

 private:
  void ExpectError(TestExpect expect, const ast::ExpectStatement* statement);
  void ExpectTrue(TestExpect expect, const ast::ExpectStatement* statement);
  /// `expect left ~= right`.
  void ExpectNear(TestExpect expect, const ast::ExpectStatement* statement);
  /// Evaluates one side. `a[0]` of sequences becomes `a` with `row` 0: its length is only known in
  /// the run.
  Datum EvaluateSide(const ast::Expr* side, std::optional<int64_t>* row);
  bool ReadTolerance(const ast::Expr* expr, TestExpect* expect);
  void ExpectDense(TestExpect expect, const Datum& left, const Datum& right,
                   const ast::ExpectStatement* statement);
  /// `expect left ~= right` with a ragged side.
  void ExpectParts(TestExpect expect, const Datum& left, const Datum& right,
                   const ast::ExpectStatement* statement);

  Position& at_;
  TestRun& test_;
  Reporter& report_;
  Literals& literals_;
  Expressions& expressions_;
  TestOutputs& test_outputs_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_EXPECTATIONS_H_
