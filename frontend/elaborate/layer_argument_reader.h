#ifndef PDL_FRONTEND_ELABORATE_LAYER_ARGUMENT_READER_H_
#define PDL_FRONTEND_ELABORATE_LAYER_ARGUMENT_READER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class AttributeChecker;
class Budget;
class Expressions;
class Functions;
class Reporter;

/// Evaluates the arguments of a call of a layer, or of a file that is called like one.
class LayerArgumentReader {
 public:
  LayerArgumentReader(Position& at, Reporter& report, Budget& budget, Expressions& expressions,
                      AttributeChecker& attributes, Functions& functions)
      : at_(at),
        report_(report),
        budget_(budget),
        expressions_(expressions),
        attributes_(attributes),
        functions_(functions) {}

  /// Adds what the call gives to `arguments`, which are poison where a mistake was reported.
  void ReadLayerArguments(const Callee& callee, const ast::CallExpr* expr, const Operand* piped,
                          LayerArguments* arguments);

 private:
  /// False where the list that is spread goes beyond a limit.
  bool ReadPositional(const ast::Argument& argument, LayerArguments* arguments);
  /// `clip_norm` and `lazy`, which each optimizer takes.
  void ReadOptimizerOption(const ast::Argument& argument, LayerArguments* arguments);
  /// `training` and `recompute`, which each layer takes.
  void ReadMode(const ast::Argument& argument, LayerArguments* arguments);
  void ReportUnknown(const Callee& callee, const ast::Argument& argument);

  Position& at_;
  Reporter& report_;
  Budget& budget_;
  Expressions& expressions_;
  AttributeChecker& attributes_;
  Functions& functions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_ARGUMENT_READER_H_
