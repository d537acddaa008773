#ifndef PDL_FRONTEND_ELABORATE_TRAINING_VALUES_H_
#define PDL_FRONTEND_ELABORATE_TRAINING_VALUES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class CallEmitter;
class CalleeTable;

/// The values `training` and `step`, which are created when they are first read.
class TrainingValues {
 public:
  TrainingValues(const CompileRequest& request, Position& at, Graph& graph, TrainingState& training,
                 Budget& budget, CalleeTable& callees, CallEmitter& emitter)
      : request_(request),
        at_(at),
        graph_(graph),
        training_(training),
        budget_(budget),
        callees_(callees),
        emitter_(emitter) {}

  /// `training`; false inside a layer that is held in inference mode.
  Datum EvaluateTraining(SourceRange range);
  /// `step`: the state that counts steps.
  Datum EvaluateStep();
  /// Records the value of a name while an optimizer is read.
  void NoteOptimizerName(SourceRange range, const Datum& datum);

 private:
  const CompileRequest& request_;
  Position& at_;
  Graph& graph_;
  TrainingState& training_;
  Budget& budget_;
  CalleeTable& callees_;
  CallEmitter& emitter_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TRAINING_VALUES_H_
