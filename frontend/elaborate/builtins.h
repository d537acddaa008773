#ifndef PDL_FRONTEND_ELABORATE_BUILTINS_H_
#define PDL_FRONTEND_ELABORATE_BUILTINS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class Expressions;
class ParameterNames;
class Reporter;
class TypeReader;
class UnusedNames;

/// Functions of constants that are built into the language, such as `len` and `dims`.
class Builtins {
 public:
  Builtins(Position& at, Reporter& report, Budget& budget, TypeReader& types,
           Expressions& expressions, ParameterNames& parameter_names, UnusedNames& unused)
      : at_(at),
        report_(report),
        budget_(budget),
        types_(types),
        expressions_(expressions),
        parameter_names_(parameter_names),
        unused_(unused) {}

  /// Evaluates a built-in function of constants; nullopt if the callee is none.
  std::optional<Datum> EvaluateBuiltin(const ast::CallExpr* expr, const Operand* piped);

 private:
  Position& at_;
  Reporter& report_;
  Budget& budget_;
  TypeReader& types_;
  Expressions& expressions_;
  ParameterNames& parameter_names_;
  UnusedNames& unused_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_BUILTINS_H_
