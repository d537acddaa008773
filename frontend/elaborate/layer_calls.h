#ifndef PDL_FRONTEND_ELABORATE_LAYER_CALLS_H_
#define PDL_FRONTEND_ELABORATE_LAYER_CALLS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class GivenParameters;
class LayerAttributes;
class LayerConditions;
class LayerInputs;
class NameTable;
class Reporter;
class Statements;

/// Layers, and files used as layers: each call is expanded where it is written.
class LayerCalls {
 public:
  LayerCalls(const CompileRequest& request, Position& at, Graph& graph, ValueState& values,
             Reporter& report, Budget& budget, NameTable& names, LayerAttributes& layer_attributes,
             LayerInputs& layer_inputs, LayerConditions& layer_conditions,
             GivenParameters& given_parameters, Statements& statements)
      : request_(request),
        at_(at),
        graph_(graph),
        values_(values),
        report_(report),
        budget_(budget),
        names_(names),
        layer_attributes_(layer_attributes),
        layer_inputs_(layer_inputs),
        layer_conditions_(layer_conditions),
        given_parameters_(given_parameters),
        statements_(statements) {}

  /// Expands a layer or a file. `path` is the path of its parameters; with `is_instance`, other
  /// calls may have created them already. Returns no results if it is poison.
  CallResults CallLayer(const Callee& callee, const LayerArguments& arguments, llvm::StringRef path,
                        bool is_instance, llvm::ArrayRef<const void*> active, Targets targets);

 private:
  /// Returns false and reports an error if the call exceeds a limit or is recursive. `active` are
  /// the layers being expanded around it.
  bool MayCall(const Callee& callee, const void* identity, SourceRange place,
               llvm::ArrayRef<const void*> active);
  /// Elaborates the statements of the layer or file in `frame`, which receives the results.
  void Expand(const Callee& callee, const LayerArguments& arguments, TextFrame* frame);
  bool BindLayer(const ast::LayerStatement* layer, const LayerArguments& arguments);

  const CompileRequest& request_;
  Position& at_;
  Graph& graph_;
  ValueState& values_;
  Reporter& report_;
  Budget& budget_;
  NameTable& names_;
  LayerAttributes& layer_attributes_;
  LayerInputs& layer_inputs_;
  LayerConditions& layer_conditions_;
  GivenParameters& given_parameters_;
  Statements& statements_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_CALLS_H_
