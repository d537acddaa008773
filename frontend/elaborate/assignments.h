#ifndef PDL_FRONTEND_ELABORATE_ASSIGNMENTS_H_
#define PDL_FRONTEND_ELABORATE_ASSIGNMENTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Literals;
class NameTable;
class Reporter;
class SizeConditions;
class SizeConstraints;
class TypeReader;

/// Assignments to names, updates of states, and `assert`.
class Assignments {
 public:
  Assignments(Position& at, Graph& graph, ValueState& values, LastStatement& last, Reporter& report,
              NameTable& names, SizeConstraints& constraints, SizeConditions& conditions,
              TypeReader& types, Literals& literals, Expressions& expressions)
      : at_(at),
        graph_(graph),
        values_(values),
        last_(last),
        report_(report),
        names_(names),
        constraints_(constraints),
        conditions_(conditions),
        types_(types),
        literals_(literals),
        expressions_(expressions) {}

  /// `a, b: type = value`, or an expression statement.
  void ElaborateAssign(const ast::AssignStatement* statement);
  /// `update state = value`.
  void ElaborateUpdate(const ast::UpdateStatement* statement);
  /// `assert condition`: an error if it can never hold, a constraint if it depends on sizes.
  void ElaborateAssert(const ast::AssertStatement* statement);

 private:
  void AssignValue(const ast::AssignStatement* statement);
  /// Returns false and reports an error if a name occurs twice on the left.
  bool CheckTargets(llvm::ArrayRef<ast::Identifier> targets);
  /// Assigns a result to each name. Returns false and reports an error if there are too few
  /// results.
  bool AssignAll(llvm::ArrayRef<ast::Identifier> targets, llvm::ArrayRef<CallResult> results);
  /// Sets the value of the state after a run, or after a training step while an optimizer is
  /// elaborated.
  void SetUpdate(Value* state, Value* value);

  Position& at_;
  Graph& graph_;
  ValueState& values_;
  LastStatement& last_;
  Reporter& report_;
  NameTable& names_;
  SizeConstraints& constraints_;
  SizeConditions& conditions_;
  TypeReader& types_;
  Literals& literals_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_ASSIGNMENTS_H_
