#ifndef PDL_FRONTEND_ELABORATE_PARAMETER_NAMES_H_
#define PDL_FRONTEND_ELABORATE_PARAMETER_NAMES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class CalleeTable;
class Expressions;
class NameExpressions;
class Reporter;

/// Parameters by the names of layers and values that have them.
class ParameterNames {
 public:
  ParameterNames(Position& at, Graph& graph, ValueState& values, Reporter& report, Budget& budget,
                 CalleeTable& callees, Expressions& expressions, NameExpressions& name_expressions)
      : at_(at),
        graph_(graph),
        values_(values),
        report_(report),
        budget_(budget),
        callees_(callees),
        expressions_(expressions),
        name_expressions_(name_expressions) {}

  /// Parameters below the names that an expression gives; false where a mistake was reported.
  bool ReadParameters(const ast::Expr* expr, std::vector<Value*>* parameters);
  /// The parameters of the layer or value of that name, or the parameter itself.
  std::vector<Value*> ParametersBelow(llvm::StringRef name);
  /// What the names of parameters below `name` begin with.
  std::vector<std::string> WaysOf(llvm::StringRef name);

 private:
  Position& at_;
  Graph& graph_;
  ValueState& values_;
  Reporter& report_;
  Budget& budget_;
  CalleeTable& callees_;
  Expressions& expressions_;
  NameExpressions& name_expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_PARAMETER_NAMES_H_
