#ifndef PDL_FRONTEND_ELABORATE_MINIMIZE_H_
#define PDL_FRONTEND_ELABORATE_MINIMIZE_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Functions;
class Gradients;
class ParameterNames;
class Reporter;
class TrainingStep;

/// `minimize`: a loss, the parameters that are trained, and their optimizer.
class Minimize {
 public:
  Minimize(const CompileRequest& request, Position& at, Graph& graph, TrainingState& training,
           Reporter& report, Expressions& expressions, Functions& functions, Gradients& gradients,
           ParameterNames& parameter_names, TrainingStep& training_step)
      : request_(request),
        at_(at),
        graph_(graph),
        training_(training),
        report_(report),
        expressions_(expressions),
        functions_(functions),
        gradients_(gradients),
        parameter_names_(parameter_names),
        training_step_(training_step) {}

  /// Adds a training to the graph and, if the request asks for it, the computation of a training
  /// step.
  void ElaborateMinimize(const ast::MinimizeStatement* statement);

 private:
  // Each of these adds to `training`, and returns false if an error was reported, here or earlier.
  bool ReadLoss(const ast::MinimizeStatement* statement, GraphTraining* training);
  bool ReadTrained(const ast::MinimizeStatement* statement, bool ok, GraphTraining* training);
  bool ReadEvery(const ast::Expr* expr, GraphTraining* training);
  bool CheckOptimizer(const Datum& with, SourceRange place);
  /// The optimizer as a function, and the values of the names in its source.
  Datum ReadOptimizer(const ast::Expr* expr, OptimizerNames* names);
  /// The source of the optimizer, with the values of the file's attrs and the like in place of
  /// their names.
  std::string OptimizerText(SourceRange range, const OptimizerNames& names) const;
  /// Removes the parameters that the loss does not depend on.
  bool CheckReached(const ast::MinimizeStatement* statement, GraphTraining* training);

  const CompileRequest& request_;
  Position& at_;
  Graph& graph_;
  TrainingState& training_;
  Reporter& report_;
  Expressions& expressions_;
  Functions& functions_;
  Gradients& gradients_;
  ParameterNames& parameter_names_;
  TrainingStep& training_step_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_MINIMIZE_H_
