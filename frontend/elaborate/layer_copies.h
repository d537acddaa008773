#ifndef PDL_FRONTEND_ELABORATE_LAYER_COPIES_H_
#define PDL_FRONTEND_ELABORATE_LAYER_COPIES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class Expressions;
class NameTable;
class ParameterNames;
class Reporter;

/// States that begin as copies: `state target = copy(net)` makes a second instance of a layer,
/// whose parameters are states, and `state mean = copy(w)` copies one parameter or state.
class LayerCopies {
 public:
  LayerCopies(Position& at, Graph& graph, ValueState& values, Reporter& report, Budget& budget,
              NameTable& names, Expressions& expressions, ParameterNames& parameter_names)
      : at_(at),
        graph_(graph),
        values_(values),
        report_(report),
        budget_(budget),
        names_(names),
        expressions_(expressions),
        parameter_names_(parameter_names) {}

  /// The original: an instance of a layer and its name, or a parameter or state.
  struct Source {
    FunctionPtr layer;
    llvm::StringRef name;
    Value* value = nullptr;
  };
  /// The expression as a call of `copy`; null if it is something else.
  static const ast::CallExpr* AsCopy(const ast::Expr* expr);
  /// Returns nullopt if an error was reported.
  std::optional<Source> ReadSource(const ast::CallExpr* copy);
  /// Creates a state for each parameter and state of the layer, and an instance of this name that
  /// uses them.
  void CopyLayer(const ast::Identifier& name, const Source& source);
  /// Makes the name one whose uses report no errors.
  void Poison(const ast::Identifier& name);

  /// The instance of a layer with this name; null if there is none.
  FunctionPtr InstanceNamed(llvm::StringRef name) const;
  /// Whether a parameter or state belongs to a copied layer.
  bool IsInCopy(llvm::StringRef variable) const;
  /// The path of the copied layer of that name; empty if it is something else.
  std::string PathOf(llvm::StringRef name) const;
  /// The states of a copied layer that are copies of parameters; none if a limit was exceeded.
  std::vector<Value*> ParametersOf(llvm::StringRef path, SourceRange place);

 private:
  Position& at_;
  Graph& graph_;
  ValueState& values_;
  Reporter& report_;
  Budget& budget_;
  NameTable& names_;
  Expressions& expressions_;
  ParameterNames& parameter_names_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_COPIES_H_
