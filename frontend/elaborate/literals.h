#ifndef PDL_FRONTEND_ELABORATE_LITERALS_H_
#define PDL_FRONTEND_ELABORATE_LITERALS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class CallEmitter;
class CalleeTable;
class Reporter;

/// Converts literals and constants to tensors.
class Literals {
 public:
  Literals(Position& at, Reporter& report, Budget& budget, CalleeTable& callees,
           CallEmitter& emitter)
      : at_(at), report_(report), budget_(budget), callees_(callees), emitter_(emitter) {}

  /// The value as a tensor; a literal becomes a constant of `dtype`, or of its natural dtype.
  /// Returns null if it is poison or an error was reported.
  Value* AsTensor(const Datum& datum, SourceRange range, std::optional<DType> dtype,
                  Targets targets);

 private:
  /// Emits a literal with lists of different lengths as a ragged value.
  Value* EmitRagged(const Datum& literal, DType dtype, SourceRange range, Targets targets);

  Position& at_;
  Reporter& report_;
  Budget& budget_;
  CalleeTable& callees_;
  CallEmitter& emitter_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LITERALS_H_
