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

/// What a step of training computes: gradients, and the next values of parameters and of the states
/// of optimizers.
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

  /// Adds what a step computes: the gradients, and the next values of parameters and of the
  /// optimizer's states.
  void ElaborateStep(const ast::MinimizeStatement* statement, const Function& optimizer,
                     GraphTraining* training);
  /// `step` is one more after each step.
  void CountStep();

 private:
  /// What a step does to one parameter.
  struct Update {
    Value* parameter;
    Operand now;  // the parameter, or what it was cast to
    Operand gradient;
  };
  /// The gradients of the loss by all parameters; false after a mistake.
  bool MakeGradients(const ast::MinimizeStatement* statement, bool is_lazy,
                     const GraphTraining& training, std::vector<Update>* updates);
  /// The parameter after the step, which `factor`, if there is one, scales; null after a mistake.
  Value* NextValue(const Function& optimizer, const Update& update,
                   const std::optional<Operand>& factor, SourceRange place);
  /// `now`: the parameter, or what it was cast to.
  Value* CallOptimizer(const Function& optimizer, Value* parameter, const Operand& now,
                       const Operand& gradient, SourceRange place);
  Value* CallStandardLayer(llvm::StringRef name, llvm::ArrayRef<Operand> operands,
                           llvm::ArrayRef<std::pair<llvm::StringRef, double>> attributes,
                           llvm::StringRef path, SourceRange place);
  /// Lets an optimizer leave rows as they are whose gradient is 0; false after a mistake.
  bool MakeLazy(Operand* gradient);
  /// Gives the operand another dtype.
  bool Cast(Operand* operand, DType dtype);

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
