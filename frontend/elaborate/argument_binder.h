#ifndef PDL_FRONTEND_ELABORATE_ARGUMENT_BINDER_H_
#define PDL_FRONTEND_ELABORATE_ARGUMENT_BINDER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class Expressions;
class Functions;
class Reporter;

/// Binds the arguments of a call to the inputs and attributes of an operator.
class ArgumentBinder {
 public:
  ArgumentBinder(Reporter& report, Budget& budget, Expressions& expressions, Functions& functions)
      : report_(report), budget_(budget), expressions_(expressions), functions_(functions) {}

  /// Binds the arguments to `call`, whose operator is set. Marks the call as poison if an error was
  /// reported.
  void BindArguments(const ast::CallExpr* expr, const Operand* piped, Call* call);
  /// The dtype for the literal of a tensor attribute: the value of the dtype attribute that `decl`
  /// names.
  std::optional<DType> LiteralDType(const AttributeDecl& decl, const Call& call);

  /// Gives the literals of a function that is called their own dtype, since it is no initializer.
  /// Returns false if an error was reported.
  bool SettleLiterals(Call* call);

 private:
  struct Pending;
  void AddOperand(Datum datum, SourceRange range, Call* call);
  /// Adds the items of a list as operands.
  void AddSpread(const ast::Argument& argument, Call* call);
  void BindNamed(const ast::Argument& argument, Pending* pending, Call* call);
  void BindOrPostpone(const AttributeDecl& decl, const ast::Argument& argument, Pending* pending,
                      Call* call);
  void AddNamedInputs(llvm::ArrayRef<const ast::Argument*> named_inputs, Call* call);
  void BindAttribute(const AttributeDecl& decl, const ast::Argument& argument, Call* call);
  void AddAttribute(const AttributeDecl& decl, const Datum& datum, AttributePlace place,
                    Call* call);
  /// Omits inputs that are left out at the end of the call; an earlier one becomes the number that
  /// the operator declares for it.
  void LeaveOutInputs(Call* call);
  /// Binds the operands of counted inputs; those given by position belong to the first one.
  void BindCounted(llvm::ArrayRef<const ast::Argument*> named_inputs, Call* call);
  void BindBody(const AttributeDecl& decl, const ast::Argument& argument, Call* call);

  Reporter& report_;
  Budget& budget_;
  Expressions& expressions_;
  Functions& functions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_ARGUMENT_BINDER_H_
