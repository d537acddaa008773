#ifndef PDL_FRONTEND_ELABORATE_FUNCTIONS_H_
#define PDL_FRONTEND_ELABORATE_FUNCTIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class ArgumentBinder;
class Budget;
class CallEmitter;
class CalleeTable;
class Expressions;
class GivenParameters;
class LayerArgumentReader;
class LayerCalls;
class NameTable;
class Reporter;

/// Functions: calls without their inputs, and layer instances.
class Functions {
 public:
  Functions(Position& at, ValueState& values, Reporter& report, Budget& budget, NameTable& names,
            CalleeTable& callees, CallEmitter& emitter, Expressions& expressions,
            ArgumentBinder& binder, LayerCalls& layers, LayerArgumentReader& argument_reader,
            GivenParameters& given_parameters)
      : at_(at),
        values_(values),
        report_(report),
        budget_(budget),
        names_(names),
        callees_(callees),
        emitter_(emitter),
        expressions_(expressions),
        binder_(binder),
        layers_(layers),
        argument_reader_(argument_reader),
        given_parameters_(given_parameters) {}

  /// A function, `none`, or the name of a function; poison if an error was reported.
  Datum ReadFunction(const ast::Expr* expr);
  /// The call as a function; poison if an error was reported.
  Datum FunctionOf(const ast::CallExpr* call);
  /// Evaluates an argument for a layer's parameter of this type.
  Datum EvaluateFor(const ast::Type* type, const ast::Expr* expr);
  /// The function as an instance with its parameters at `path`.
  FunctionPtr MakeInstance(const FunctionPtr& function, std::string path);
  /// Calls a function with the inputs of `expr`. Returns no results if it is poison.
  CallResults Apply(const FunctionPtr& function, const ast::CallExpr* expr, const Operand* piped,
                    Targets targets);
  /// Calls a function with these operands; its parameters are at `path` unless it is an instance.
  CallResults ApplyTo(const FunctionPtr& function, llvm::ArrayRef<Operand> operands,
                      SourceRange place, llvm::StringRef path);
  /// `layer name = f(…)`.
  void ElaborateInstance(const ast::LayerInstanceStatement* statement);

 private:
  /// Reports the name of an operator or a layer where a call of it is expected.
  void ReportNotCalled(llvm::StringRef name, SourceRange range);
  /// Evaluates the inputs of a function call; an erroneous input is poison. Returns false if a
  /// limit was exceeded.
  bool ReadInputs(const Callee& callee, const ast::CallExpr* expr, const Operand* piped,
                  LayerArguments* given);
  Datum FunctionNamed(llvm::StringRef name, SourceRange range);
  /// Reports an input in a call that makes a function; it was probably meant as this attribute.
  void ReportInput(const Callee& callee, SourceRange range, llvm::StringRef attribute);

  Position& at_;
  ValueState& values_;
  Reporter& report_;
  Budget& budget_;
  NameTable& names_;
  CalleeTable& callees_;
  CallEmitter& emitter_;
  Expressions& expressions_;
  ArgumentBinder& binder_;
  LayerCalls& layers_;
  LayerArgumentReader& argument_reader_;
  GivenParameters& given_parameters_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_FUNCTIONS_H_
