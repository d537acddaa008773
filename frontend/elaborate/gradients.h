#ifndef PDL_FRONTEND_ELABORATE_GRADIENTS_H_
#define PDL_FRONTEND_ELABORATE_GRADIENTS_H_

#include "frontend/elaborate/elaboration_state.h"
#include "pdl/compiler/differentiate.h"

namespace pdl {

class Budget;
class CallEmitter;
class CalleeTable;
class Expressions;
class Literals;
class Reporter;
class TypeReader;

/// `grad`, and checks of the values that it is applied to.
class Gradients {
 public:
  Gradients(Position& at, Graph& graph, Reporter& report, Budget& budget, CalleeTable& callees,
            TypeReader& types, CallEmitter& emitter, Literals& literals, Expressions& expressions)
      : at_(at),
        graph_(graph),
        report_(report),
        budget_(budget),
        callees_(callees),
        types_(types),
        emitter_(emitter),
        literals_(literals),
        expressions_(expressions) {}

  /// `grad(loss, x)` or `grad(y, x, dy)`; no results if an error was reported.
  CallResults EvaluateGrad(const ast::CallExpr* expr, const Operand* piped, Targets targets);
  /// Emits the gradients of `y` with respect to `xs`; `dy` is the cotangent of y, by default 1.
  /// Returns null if an error was reported.
  Op* EmitGradient(const Operand& y, std::optional<Operand> dy, llvm::ArrayRef<Operand> xs,
                   SourceRange place, Targets targets);
  /// Reports an error at `place` and returns false if no gradient reaches an input, or it passes
  /// through a call that has no gradient.
  bool CheckFlow(const GradientFlow& flow, SourceRange place, const llvm::Twine& from,
                 const llvm::Twine& to);

 private:
  /// Reads the inputs of `grad`. Returns false if an error was reported or one is poison.
  bool ReadOperands(const ast::CallExpr* expr, const Operand* piped,
                    llvm::SmallVectorImpl<Operand>* given);
  bool CheckDerived(const Operand& y, bool has_cotangent);
  /// Whether `y` depends on each `x`; reports the first on which it does not.
  bool CheckDependence(const Operand& y, llvm::ArrayRef<Operand> xs);
  bool CheckDerivedBy(const Operand& x);
  void ReportIndependence(const Operand& y, const Operand& x);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  Budget& budget_;
  CalleeTable& callees_;
  TypeReader& types_;
  CallEmitter& emitter_;
  Literals& literals_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_GRADIENTS_H_
