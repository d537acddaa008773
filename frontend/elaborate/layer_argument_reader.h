#ifndef PDL_FRONTEND_ELABORATE_LAYER_ARGUMENT_READER_H_
#define PDL_FRONTEND_ELABORATE_LAYER_ARGUMENT_READER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class AttributeChecker;
class Budget;
class Expressions;
class Functions;
class GivenParameters;
class Reporter;

/// The declared type of an input or attribute of a layer, or of a file used as a layer; null if
/// there is none of this name.
const ast::Type* DeclaredType(const Callee& callee, llvm::StringRef name);

/// Evaluates the arguments of a call of a layer, or of a file used as a layer.
class LayerArgumentReader {
 public:
  LayerArgumentReader(Position& at, Reporter& report, Budget& budget, Expressions& expressions,
                      AttributeChecker& attributes, Functions& functions,
                      GivenParameters& given_parameters)
      : at_(at),
        report_(report),
        budget_(budget),
        expressions_(expressions),
        attributes_(attributes),
        functions_(functions),
        given_parameters_(given_parameters) {}

  /// Adds the arguments of the call to `arguments`, which become poison if an error was reported.
  void ReadLayerArguments(const Callee& callee, const ast::CallExpr* expr, const Operand* piped,
                          LayerArguments* arguments);
  /// Reads `training` and `recompute`, which each layer takes.
  void ReadMode(const ast::Argument& argument, LayerArguments* arguments);

 private:
  /// Returns false if a spread list exceeds a limit.
  bool ReadPositional(const ast::Argument& argument, LayerArguments* arguments);
  /// Reads `clip_norm` and `lazy`, which each optimizer takes.
  void ReadOptimizerOption(const ast::Argument& argument, LayerArguments* arguments);
  void ReportUnknown(const Callee& callee, const ast::Argument& argument);

  Position& at_;
  Reporter& report_;
  Budget& budget_;
  Expressions& expressions_;
  AttributeChecker& attributes_;
  Functions& functions_;
  GivenParameters& given_parameters_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_ARGUMENT_READER_H_
