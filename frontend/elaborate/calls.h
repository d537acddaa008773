#ifndef PDL_FRONTEND_ELABORATE_CALLS_H_
#define PDL_FRONTEND_ELABORATE_CALLS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class ArgumentBinder;
class Builtins;
class CallEmitter;
class CalleeTable;
class Expressions;
class Functions;
class Gradients;
class LayerArgumentReader;
class LayerCalls;
class NameTable;

/// Evaluates calls of operators, layers, files and functions.
class Calls {
 public:
  Calls(Position& at, NameTable& names, CalleeTable& callees, CallEmitter& emitter,
        Expressions& expressions, Builtins& builtins, ArgumentBinder& binder, Functions& functions,
        LayerCalls& layers, LayerArgumentReader& argument_reader, Gradients& gradients)
      : at_(at),
        names_(names),
        callees_(callees),
        emitter_(emitter),
        expressions_(expressions),
        builtins_(builtins),
        binder_(binder),
        functions_(functions),
        layers_(layers),
        argument_reader_(argument_reader),
        gradients_(gradients) {}

  /// `piped`, unless null, is the first input.
  CallResults EvaluateCall(const ast::CallExpr* expr, const Operand* piped, Targets targets);
  /// `a |> f() |> g()`: each call takes the previous value as its first input.
  CallResults EvaluatePipe(const ast::ChainExpr* chain, Targets targets);

 private:
  Position& at_;
  NameTable& names_;
  CalleeTable& callees_;
  CallEmitter& emitter_;
  Expressions& expressions_;
  Builtins& builtins_;
  ArgumentBinder& binder_;
  Functions& functions_;
  LayerCalls& layers_;
  LayerArgumentReader& argument_reader_;
  Gradients& gradients_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_CALLS_H_
