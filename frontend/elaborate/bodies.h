#ifndef PDL_FRONTEND_ELABORATE_BODIES_H_
#define PDL_FRONTEND_ELABORATE_BODIES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class CalleeTable;
class Expressions;
class Functions;
class Literals;
class NameTable;
class Reporter;

/// Bodies of loops: functions that are elaborated once into a Block of their own, for any number of
/// iterations. Values that they capture are passed to the Block by the call.
class Bodies {
 public:
  Bodies(Budget& budget, Position& at, Graph& graph, ValueState& values, TrainingState& training,
         Reporter& report, NameTable& names, CalleeTable& callees, Literals& literals,
         Expressions& expressions, Functions& functions)
      : budget_(budget),
        at_(at),
        graph_(graph),
        values_(values),
        training_(training),
        report_(report),
        names_(names),
        callees_(callees),
        literals_(literals),
        expressions_(expressions),
        functions_(functions) {}

  /// The value as seen from inside the open body.
  Value* InBody(Value* value);
  /// Fills the block of a call with its body, and appends the captured values to the operands.
  bool ElaborateBody(Call& call, llvm::SmallVectorImpl<Value*>& operands, Targets targets);

 private:
  uint32_t HomeOf(const Value* value) const;
  /// A value in a block around the open body that a body can take and that has the size: a dim that
  /// is `symbol`, or one that determines it, such as 2*N; null if there is none.
  Value* OuterValueWith(llvm::StringRef symbol, bool in_bodies_only) const;
  /// A new value with `symbol` as its only dim, outside of all bodies.
  Value* MakeValueWith(llvm::StringRef symbol, SourceRange place);
  /// Captures a value for each size that attributes in the open body use and its inputs do not
  /// have: a body knows no other sizes. Functions that are attributes of the body bring them.
  /// Reports ragged ones and returns false: no value of a body is ragged.
  bool CaptureSizes(SourceRange place);
  bool FillBody(const Call& call, llvm::ArrayRef<Type> types, llvm::StringRef path, BlockId block);

  Budget& budget_;
  Position& at_;
  Graph& graph_;
  ValueState& values_;
  TrainingState& training_;
  Reporter& report_;
  NameTable& names_;
  CalleeTable& callees_;
  Literals& literals_;
  Expressions& expressions_;
  Functions& functions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_BODIES_H_
