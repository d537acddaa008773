#ifndef PDL_FRONTEND_ELABORATE_VARIABLES_H_
#define PDL_FRONTEND_ELABORATE_VARIABLES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class GivenParameters;
class Initializers;
class LayerCopies;
class NameTable;
class Reporter;
class TypeReader;
class UnusedNames;

/// Parameters and states.
class Variables {
 public:
  Variables(Position& at, Graph& graph, ValueState& values, Reporter& report, NameTable& names,
            TypeReader& types, Expressions& expressions, Initializers& initializers,
            GivenParameters& given_parameters, LayerCopies& copies, UnusedNames& unused)
      : at_(at),
        graph_(graph),
        values_(values),
        report_(report),
        names_(names),
        types_(types),
        expressions_(expressions),
        initializers_(initializers),
        given_parameters_(given_parameters),
        copies_(copies),
        unused_(unused) {}

  /// `param` or `state`: creates a variable, or uses the one that an earlier call of the instance
  /// has created.
  void ElaborateVariable(const ast::VariableStatement* statement);

 private:
  /// `state name = copy(…)`.
  void ElaborateCopy(const ast::VariableStatement* statement);
  /// Adds the variable to the graph; its name is the path to it unless one is given.
  Value* Create(const ast::VariableStatement* statement, const Type& type, VariableInfo info,
                llvm::StringRef given_name);
  /// Makes the name stand for the variable.
  void Define(const ast::VariableStatement* statement, Value* value);
  bool ReadParameterAttributes(const ast::Expr* with, VariableInfo* info, ParameterRecord* given);
  /// The parameter with the name that the record gives, created by another layer; null if there is
  /// none, or it differs and an error was reported.
  Value* FindNamed(const ParameterRecord& given, const VariableInfo& info, const Type& type,
                   bool* is_error);
  /// The parameter or state with this name created by another call of the instance.
  Value* FindShared(const ast::VariableStatement* statement, const Type& type, bool* is_error);

  Position& at_;
  Graph& graph_;
  ValueState& values_;
  Reporter& report_;
  NameTable& names_;
  TypeReader& types_;
  Expressions& expressions_;
  Initializers& initializers_;
  GivenParameters& given_parameters_;
  LayerCopies& copies_;
  UnusedNames& unused_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_VARIABLES_H_
