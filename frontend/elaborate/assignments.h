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

  /// `a, b: type = value`, or an expression alone.
  void ElaborateAssign(const ast::AssignStatement* statement);
  /// `update state = value`.
  void ElaborateUpdate(const ast::UpdateStatement* statement);
  /// `assert condition`: an error where it never holds, a constraint where sizes decide.
  void ElaborateAssert(const ast::AssertStatement* statement);

 private:
  void AssignValue(const ast::AssignStatement* statement);
  /// False where a name stands twice on the left, which was reported.
  bool CheckTargets(llvm::ArrayRef<ast::Identifier> targets);
  /// Gives each name its result; false where there are too few, which was reported.
  bool AssignAll(llvm::ArrayRef<ast::Identifier> targets, llvm::ArrayRef<CallResult> results);
  /// The state's value after a run, or after a step of training where an optimizer is elaborated.
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
