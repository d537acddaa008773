#ifndef PDL_FRONTEND_ELABORATE_INITIALIZERS_H_
#define PDL_FRONTEND_ELABORATE_INITIALIZERS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class ArgumentBinder;
class CallEmitter;
class Functions;
class LayerCopies;
class LoadCalls;
class Reporter;

/// Initializers of parameters and states, and the weights that they load.
class Initializers {
 public:
  Initializers(const CompileRequest& request, Position& at, Graph& graph, ReportedErrors& reported,
               Reporter& report, CallEmitter& emitter, ArgumentBinder& binder, Functions& functions,
               LoadCalls& load_calls, LayerCopies& copies)
      : request_(request),
        at_(at),
        graph_(graph),
        reported_(reported),
        report_(report),
        emitter_(emitter),
        binder_(binder),
        functions_(functions),
        load_calls_(load_calls),
        copies_(copies) {}

  /// Adds the source of a variable's initial value to `info`: a block, or weights. `given` has the
  /// function or the weights that replace the declared ones, if any. Returns false if an error was
  /// reported.
  bool ReadInitializer(const ast::VariableStatement* statement, const Type& type,
                       const ParameterRecord& given, VariableInfo* info);

 private:
  /// The operator that computes the initial value, with its attributes; null if an error was
  /// reported.
  FunctionPtr FunctionFor(const ast::VariableStatement* statement, const FunctionPtr& init);
  /// Adds the attributes given by the declared type. Returns false if an error was reported.
  bool Complete(const Type& type, SourceRange type_range, Call* initializer);
  /// Adds the parameter or state that `copy` names to `info`. Returns false if an error was
  /// reported.
  bool ReadCopy(const ast::VariableStatement* statement, const ast::CallExpr* copy,
                const Type& type, VariableInfo* info);
  /// Adds the tensor that a `load` names to `info`. Returns false if an error was reported.
  bool ReadLoad(const LoadCall& load, const Type& type, VariableInfo* info);

  const CompileRequest& request_;
  Position& at_;
  Graph& graph_;
  ReportedErrors& reported_;
  Reporter& report_;
  CallEmitter& emitter_;
  ArgumentBinder& binder_;
  Functions& functions_;
  LoadCalls& load_calls_;
  LayerCopies& copies_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_INITIALIZERS_H_
