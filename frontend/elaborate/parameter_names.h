#ifndef PDL_FRONTEND_ELABORATE_PARAMETER_NAMES_H_
#define PDL_FRONTEND_ELABORATE_PARAMETER_NAMES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class CalleeTable;
class Expressions;
class NameExpressions;
class NameTable;
class Reporter;

/// Finds parameters by the names of the layers and values that have them.
class ParameterNames {
 public:
  ParameterNames(Position& at, Graph& graph, ValueState& values, Reporter& report, Budget& budget,
                 NameTable& names, CalleeTable& callees, Expressions& expressions,
                 NameExpressions& name_expressions)
      : at_(at),
        graph_(graph),
        values_(values),
        report_(report),
        budget_(budget),
        names_(names),
        callees_(callees),
        expressions_(expressions),
        name_expressions_(name_expressions) {}

  /// Reads the parameters below the names in an expression. Returns false if an error was reported.
  bool ReadParameters(const ast::Expr* expr, std::vector<Value*>* parameters);
  /// The parameters of the layer or value of that name, or the parameter itself.
  std::vector<Value*> ParametersBelow(llvm::StringRef name);
  /// Their names below `name`: "w" for `hidden.w`.
  std::vector<std::string> NamesBelow(llvm::StringRef name);
  /// Whether an error was reported in the layer call of that name, so that parameters may be
  /// missing.
  bool IsIncomplete(llvm::StringRef name);
  /// The name prefixes of the parameters below `name`.
  std::vector<std::string> PathPrefixesOf(llvm::StringRef name);

 private:
  Position& at_;
  Graph& graph_;
  ValueState& values_;
  Reporter& report_;
  Budget& budget_;
  NameTable& names_;
  CalleeTable& callees_;
  Expressions& expressions_;
  NameExpressions& name_expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_PARAMETER_NAMES_H_
