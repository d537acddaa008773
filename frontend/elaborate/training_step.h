#ifndef PDL_FRONTEND_ELABORATE_TRAINING_STEP_H_
#define PDL_FRONTEND_ELABORATE_TRAINING_STEP_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class CallEmitter;
class CalleeTable;
class Expressions;
class Gradients;
class LayerCalls;
class OperatorExpressions;
class Reporter;
class TrainingValues;
class TypeReader;

/// The computation of a training step: gradients, and the new values of parameters and optimizer
/// states.
class TrainingStep {
 public:
  TrainingStep(Position& at, Graph& graph, ModuleTable& files, TrainingState& training,
               Reporter& report, CalleeTable& callees, TypeReader& types, CallEmitter& emitter,
               Expressions& expressions, OperatorExpressions& operators, LayerCalls& layers,
               Gradients& gradients, TrainingValues& training_values)
      : at_(at),
        graph_(graph),
        files_(files),
        training_(training),
        report_(report),
        callees_(callees),
        types_(types),
        emitter_(emitter),
        expressions_(expressions),
        operators_(operators),
        layers_(layers),
        gradients_(gradients),
        training_values_(training_values) {}

  /// Adds the computation of a step: the gradients, and the new values of parameters and optimizer
  /// states.
  void ElaborateStep(const ast::MinimizeStatement* statement, const Function& optimizer,
                     GraphTraining* training);
  /// Increments `step` after each step, as a part of the last `minimize` statement.
  void CountStep();

 private:
  /// The update of one parameter.
  struct Update {
    Value* parameter;
    Operand now;  // the parameter, possibly cast
    Operand gradient;
  };
  /// Adds the gradients of the loss by all parameters. Returns false if an error was reported.
  bool MakeGradients(const ast::MinimizeStatement* statement, bool is_lazy,
                     const GraphTraining& training, std::vector<Update>* updates);
  /// The parameter after the step, which is scaled by `factor` if given; null if an error was
  /// reported.
  Value* NextValue(const Function& optimizer, const Update& update,
                   const std::optional<Operand>& factor, SourceRange place);
  /// `now`: the parameter, possibly cast.
  Value* CallOptimizer(const Function& optimizer, Value* parameter, const Operand& now,
                       const Operand& gradient, SourceRange place);
  Value* CallStandardLayer(llvm::StringRef name, llvm::ArrayRef<Operand> operands,
                           llvm::ArrayRef<std::pair<llvm::StringRef, double>> attributes,
                           llvm::StringRef path, SourceRange place);
  /// Lets an optimizer skip rows whose gradient is 0. Returns false if an error was reported.
  bool MakeLazy(Operand* gradient);
  /// Casts the operand to another dtype.
  bool Cast(Operand* operand, DType dtype);

  SourceRange last_optimizer_;  // of the last `minimize` statement

  Position& at_;
  Graph& graph_;
  ModuleTable& files_;
  TrainingState& training_;
  Reporter& report_;
  CalleeTable& callees_;
  TypeReader& types_;
  CallEmitter& emitter_;
  Expressions& expressions_;
  OperatorExpressions& operators_;
  LayerCalls& layers_;
  Gradients& gradients_;
  TrainingValues& training_values_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TRAINING_STEP_H_
