#ifndef PDL_FRONTEND_ELABORATE_BODIES_H_
#define PDL_FRONTEND_ELABORATE_BODIES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Functions;
class Literals;
class NameTable;
class Reporter;

/// Bodies of loops: functions that are elaborated once into a Block of their own, for any number of
/// iterations. Values that they capture are passed to the Block by the call.
class Bodies {
 public:
  Bodies(Position& at, Graph& graph, ValueState& values, TrainingState& training, Reporter& report,
         NameTable& names, Literals& literals, Expressions& expressions, Functions& functions)
      : at_(at),
        graph_(graph),
        values_(values),
        training_(training),
        report_(report),
        names_(names),
        literals_(literals),
        expressions_(expressions),
        functions_(functions) {}

  /// The value as seen from inside the open body.
  Value* InBody(Value* value);
  /// Fills the block of a call with its body, and appends the captured values to the operands.
  bool ElaborateBody(Call& call, llvm::SmallVectorImpl<Value*>& operands, Targets targets);

 private:
  uint32_t HomeOf(const Value* value) const;
  /// A value with a dim that is `symbol`, in a block around the open body; null if there is none.
  Value* OuterValueWith(llvm::StringRef symbol) const;
  /// Captures a value for each size that attributes in the open body use and its inputs do not
  /// have: a body knows no other sizes. Functions that are attributes of the body bring them.
  void CaptureSizes();
  bool FillBody(const Call& call, llvm::ArrayRef<Type> types, llvm::StringRef path, BlockId block);

  Position& at_;
  Graph& graph_;
  ValueState& values_;
  TrainingState& training_;
  Reporter& report_;
  NameTable& names_;
  Literals& literals_;
  Expressions& expressions_;
  Functions& functions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_BODIES_H_
