#ifndef PDL_FRONTEND_ELABORATE_STATEMENTS_H_
#define PDL_FRONTEND_ELABORATE_STATEMENTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Assignments;
class Attrs;
class Branches;
class Budget;
class Expectations;
class ForLoops;
class Functions;
class Inputs;
class Minimize;
class NameTable;
class Outputs;
class Reporter;
class UnusedNames;
class Variables;

/// Elaborates statements in their order.
class Statements {
 public:
  Statements(Position& at, std::vector<PendingLoad>& pending_loads, LastStatement& last,
             Reporter& report, Budget& budget, NameTable& names, Functions& functions,
             Branches& branches, ForLoops& loops, Minimize& minimize, Expectations& expectations,
             Attrs& attrs, Inputs& inputs, Variables& variables, Outputs& outputs,
             Assignments& assignments, UnusedNames& unused)
      : at_(at),
        pending_loads_(pending_loads),
        last_(last),
        report_(report),
        budget_(budget),
        names_(names),
        functions_(functions),
        branches_(branches),
        loops_(loops),
        minimize_(minimize),
        expectations_(expectations),
        attrs_(attrs),
        inputs_(inputs),
        variables_(variables),
        outputs_(outputs),
        assignments_(assignments),
        unused_(unused) {}

  /// Elaborates a statement in the current frame; reports a misplaced one.
  void Elaborate(const ast::Statement* statement);
  /// The same for the statements of an `if` or `for`, up to a `return`.
  void ElaborateBlock(const ast::Block& block);

 private:
  /// Whether the current statements are directly in a test.
  bool IsInTest() const { return at_.frame->in_test && at_.frame->caller == nullptr; }
  /// Why the statement is not allowed here; empty if it is.
  std::string Misplacement(const ast::Statement* statement) const;
  /// The keyword that the results of a misplaced statement need here: `output` for `return`, and
  /// vice versa. Empty if another keyword is not enough.
  llvm::StringRef KeywordInstead(const ast::Statement* statement) const;
  /// Reports an error and returns false if the statement is not allowed here.
  bool CheckPlace(const ast::Statement* statement);
  void Dispatch(const ast::Statement* statement);

  Position& at_;
  std::vector<PendingLoad>& pending_loads_;
  LastStatement& last_;
  Reporter& report_;
  Budget& budget_;
  NameTable& names_;
  Functions& functions_;
  Branches& branches_;
  ForLoops& loops_;
  Minimize& minimize_;
  Expectations& expectations_;
  Attrs& attrs_;
  Inputs& inputs_;
  Variables& variables_;
  Outputs& outputs_;
  Assignments& assignments_;
  UnusedNames& unused_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_STATEMENTS_H_
