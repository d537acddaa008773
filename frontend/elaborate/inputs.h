#ifndef PDL_FRONTEND_ELABORATE_INPUTS_H_
#define PDL_FRONTEND_ELABORATE_INPUTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class LayerConditions;
class LayerInputs;
class NameTable;
class Reporter;
class SizeConditions;
class SizeConstraints;
class TypeReader;
class UnusedNames;

/// Inputs of a file.
class Inputs {
 public:
  Inputs(Position& at, Graph& graph, Reporter& report, NameTable& names,
         SizeConstraints& constraints, SizeConditions& conditions, TypeReader& types,
         LayerInputs& layer_inputs, LayerConditions& layer_conditions, UnusedNames& unused)
      : at_(at),
        graph_(graph),
        report_(report),
        names_(names),
        constraints_(constraints),
        conditions_(conditions),
        types_(types),
        layer_inputs_(layer_inputs),
        layer_conditions_(layer_conditions),
        unused_(unused) {}

  /// Adds an input, or binds the argument of the file's caller.
  void ElaborateInput(const ast::InputStatement* statement);
  /// Reports symbols that no input determines, such as one that only occurs in `N*M`.
  void CheckSymbolsSolvable();

 private:
  /// Binds the argument of the caller of a file.
  void BindArgument(const ast::InputStatement* statement);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  NameTable& names_;
  SizeConstraints& constraints_;
  SizeConditions& conditions_;
  TypeReader& types_;
  LayerInputs& layer_inputs_;
  LayerConditions& layer_conditions_;
  UnusedNames& unused_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_INPUTS_H_
