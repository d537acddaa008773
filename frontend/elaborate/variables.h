#ifndef PDL_FRONTEND_ELABORATE_VARIABLES_H_
#define PDL_FRONTEND_ELABORATE_VARIABLES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Initializers;
class NameTable;
class Reporter;
class TypeReader;

/// Parameters and states.
class Variables {
 public:
  Variables(Position& at, Graph& graph, Reporter& report, NameTable& names, TypeReader& types,
            Expressions& expressions, Initializers& initializers)
      : at_(at),
        graph_(graph),
        report_(report),
        names_(names),
        types_(types),
        expressions_(expressions),
        initializers_(initializers) {}

  /// `param` or `state`: creates a variable, or uses the one that an earlier call of the instance
  /// has created.
  void ElaborateVariable(const ast::VariableStatement* statement);

 private:
  bool ReadParameterAttributes(const ast::Expr* with, VariableInfo* info, FunctionPtr* init);
  /// The parameter or state with this name created by another call of the instance.
  Value* FindShared(const ast::VariableStatement* statement, const Type& type, bool* is_error);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  NameTable& names_;
  TypeReader& types_;
  Expressions& expressions_;
  Initializers& initializers_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_VARIABLES_H_
