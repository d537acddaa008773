#ifndef PDL_FRONTEND_ELABORATE_UNUSED_NAMES_H_
#define PDL_FRONTEND_ELABORATE_UNUSED_NAMES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Reporter;

/// Warns of inputs, parameters, states and values of the file and of its layers that nothing uses.
///
/// A definition is used if an output, an update of a state, a loss, a test or a call with a side
/// effect depends on one of its values, in any of the loop iterations and layer calls that define
/// it. In a layer, the results of the layer count, too. Names in code that these settings leave out
/// (branches that are not taken, loops without iterations) are taken as uses. Of a chain of unused
/// values, only the last one is reported.
class UnusedNames {
 public:
  UnusedNames(const CompileRequest& request, const Ast& ast, Position& at, const Graph& graph,
              UsageState& usage, Reporter& report)
      : request_(request), ast_(ast), at_(at), graph_(graph), usage_(usage), report_(report) {}

  /// Notes the definition of a name of the current frame.
  void Define(const ast::Identifier& name, NameKind kind, const Datum& datum);
  /// The same for the targets of one assignment, which are used if one of them is.
  void DefineAll(llvm::ArrayRef<ast::Identifier> targets);
  /// Notes a result of a layer.
  void AddResult(const Datum& datum);
  /// Notes a value whose type is used at compile time.
  void AddTypeUse(Value* value);
  /// Notes that a statement is elaborated.
  void AddElaborated(const ast::Statement* statement);
  /// Adds the warnings, in the order of the definitions. Called once, after all statements.
  void Report();

 private:
  class Analysis;

  /// Whether definitions at the current position are reported.
  bool IsEnabled() const;

  const CompileRequest& request_;
  const Ast& ast_;
  Position& at_;
  const Graph& graph_;
  UsageState& usage_;
  Reporter& report_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_UNUSED_NAMES_H_
