#ifndef PDL_FRONTEND_ELABORATE_BUILTINS_H_
#define PDL_FRONTEND_ELABORATE_BUILTINS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class Expressions;
class GivenParameters;
class LayerCopies;
class NameTable;
class ParameterNames;
class Reporter;
class TypeReader;
class UnusedNames;

/// Functions of constants that are built into the language, such as `len` and `dims`.
class Builtins {
 public:
  Builtins(Position& at, Reporter& report, Budget& budget, NameTable& names, TypeReader& types,
           Expressions& expressions, ParameterNames& parameter_names, LayerCopies& copies,
           GivenParameters& given_parameters, UnusedNames& unused)
      : at_(at),
        report_(report),
        budget_(budget),
        names_(names),
        types_(types),
        expressions_(expressions),
        parameter_names_(parameter_names),
        copies_(copies),
        given_parameters_(given_parameters),
        unused_(unused) {}

  /// Evaluates a built-in function of constants; nullopt if the callee is none.
  std::optional<Datum> EvaluateBuiltin(const ast::CallExpr* expr, const Operand* piped);

 private:
  /// `params(x)`: the list of the parameters below a name.
  Datum EvaluateParams(const ast::CallExpr* expr);

  Position& at_;
  Reporter& report_;
  Budget& budget_;
  NameTable& names_;
  TypeReader& types_;
  Expressions& expressions_;
  ParameterNames& parameter_names_;
  LayerCopies& copies_;
  GivenParameters& given_parameters_;
  UnusedNames& unused_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_BUILTINS_H_
