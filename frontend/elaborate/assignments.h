#ifndef PDL_FRONTEND_ELABORATE_ASSIGNMENTS_H_
#define PDL_FRONTEND_ELABORATE_ASSIGNMENTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class LayerCopies;
class Literals;
class NameTable;
class Reporter;
class RunChecks;
class SizeConditions;
class SizeConstraints;
class TypeReader;
class UnusedNames;

/// Assignments to names, updates of states, and `assert`.
class Assignments {
 public:
  Assignments(Position& at, Graph& graph, ValueState& values, LastStatement& last, Reporter& report,
              NameTable& names, SizeConstraints& constraints, SizeConditions& conditions,
              TypeReader& types, Literals& literals, Expressions& expressions,
              RunChecks& run_checks, LayerCopies& copies, UnusedNames& unused)
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
        expressions_(expressions),
        run_checks_(run_checks),
        copies_(copies),
        unused_(unused) {}

  /// `a, b: type = value`, or an expression statement.
  void ElaborateAssign(const ast::AssignStatement* statement);
  /// `update state = value`.
  void ElaborateUpdate(const ast::UpdateStatement* statement);
  /// `assert condition`: an error if it can never hold, a constraint if it depends on sizes, a
  /// check of each run if it depends on values of the data.
  void ElaborateAssert(const ast::AssertStatement* statement);

 private:
  void AssignValue(const ast::AssignStatement* statement);
  void CheckAssertion(const ast::AssertStatement* statement);
  /// Returns false and reports an error if a name occurs twice on the left.
  bool CheckTargets(llvm::ArrayRef<ast::Identifier> targets);
  /// Returns false and reports an error if the name is a path into a layer call, such as `h.w`.
  bool CheckNoPath(const ast::Identifier& target);
  /// Notes the call of the first name for messages, if the call has several results.
  void NoteResults(const ast::AssignStatement* statement, const CallResults& results);
  /// Assigns a result to each name. Returns false and reports an error if there are too few
  /// results.
  bool AssignAll(llvm::ArrayRef<ast::Identifier> targets, llvm::ArrayRef<CallResult> results);
  /// Makes the value of an expression the state's new value, and returns it; null if an error was
  /// reported.
  Value* UpdateState(Value* state, const Datum& datum, SourceRange range,
                     const std::string& full_name, const llvm::Twine& subject);
  /// Updates each parameter of the copied layer at `path`.
  void UpdateCopy(const ast::UpdateStatement* statement, const std::string& path);
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
  RunChecks& run_checks_;
  LayerCopies& copies_;
  UnusedNames& unused_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_ASSIGNMENTS_H_
