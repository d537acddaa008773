#ifndef PDL_FRONTEND_ELABORATE_EXPECTATIONS_H_
#define PDL_FRONTEND_ELABORATE_EXPECTATIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Literals;
class Reporter;
class TestOutputs;

/// `expect`: what a run of a test compares.
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

  /// Adds what is compared to the run of the test.
  void ElaborateExpect(const ast::ExpectStatement* statement);

 private:
  void ExpectError(TestExpect expect, const ast::ExpectStatement* statement);
  void ExpectTrue(TestExpect expect, const ast::ExpectStatement* statement);
  /// `expect left ~= right`.
  void ExpectNear(TestExpect expect, const ast::ExpectStatement* statement);
  /// One of both sides. `a[0]` of sequences is `a`, and `row` 0: how long it is, the run will know.
  Datum EvaluateSide(const ast::Expr* side, std::optional<int64_t>* row);
  bool ReadTolerance(const ast::Expr* expr, TestExpect* expect);
  void ExpectDense(TestExpect expect, const Datum& left, const Datum& right,
                   const ast::ExpectStatement* statement);
  /// An `expect left ~= right` of which a side is ragged.
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
