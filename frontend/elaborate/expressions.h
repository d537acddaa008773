#ifndef PDL_FRONTEND_ELABORATE_EXPRESSIONS_H_
#define PDL_FRONTEND_ELABORATE_EXPRESSIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class ParameterRecords;
class Budget;
class Calls;
class Members;
class NameExpressions;
class OperatorExpressions;
class Reporter;
class Subscripts;

/// Evaluates expressions.
class Expressions {
 public:
  Expressions(Position& at, Reporter& report, Budget& budget, NameExpressions& name_expressions,
              OperatorExpressions& operators, Members& members, Subscripts& subscripts,
              Calls& calls, ParameterRecords& records)
      : at_(at),
        report_(report),
        budget_(budget),
        name_expressions_(name_expressions),
        operators_(operators),
        members_(members),
        subscripts_(subscripts),
        calls_(calls),
        records_(records) {}

  /// The value of an expression; poison if an error was reported. `targets` name the results of the
  /// outermost call.
  Datum Evaluate(const ast::Expr* expr, Targets targets = {});
  /// Evaluates an expression in which dims take precedence over tensors with the same name.
  Datum EvaluateSize(const ast::Expr* expr);
  /// The results of a call, or of the last call of a pipe; for other expressions the value itself.
  CallResults EvaluateResults(const ast::Expr* expr, Targets targets);
  /// The value of a result that is used; reports an error if it lacks an input.
  Datum Use(const CallResult& result, SourceRange place);
  Datum UseFirst(const CallResults& results, SourceRange place) {
    return results.is_poison() ? Datum() : Use(results.all.front(), place);
  }

 private:
  Datum EvaluateList(const ast::ListExpr* list);

  Position& at_;
  Reporter& report_;
  Budget& budget_;
  NameExpressions& name_expressions_;
  OperatorExpressions& operators_;
  Members& members_;
  Subscripts& subscripts_;
  Calls& calls_;
  ParameterRecords& records_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_EXPRESSIONS_H_
