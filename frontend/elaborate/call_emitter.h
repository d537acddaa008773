#ifndef PDL_FRONTEND_ELABORATE_CALL_EMITTER_H_
#define PDL_FRONTEND_ELABORATE_CALL_EMITTER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Bodies;
class Budget;
class CalleeTable;
class Literals;
class Reporter;

/// Adds calls of operators to the graph.
class CallEmitter {
 public:
  CallEmitter(Position& at, Graph& graph, Reporter& report, Budget& budget, CalleeTable& callees,
              Literals& literals, Bodies& bodies)
      : at_(at),
        graph_(graph),
        report_(report),
        budget_(budget),
        callees_(callees),
        literals_(literals),
        bodies_(bodies) {}

  /// Adds the call; literals among its operands become constants of the dtype beside them.
  /// Null where a mistake was reported.
  Op* Emit(Call& call, Targets targets);
  /// The results by the names that the operator declares; none of null.
  CallResults ResultsOf(Op* op);
  /// A scalar that is an expression of symbols.
  Value* EmitSize(const Dim& size, SourceRange range, DType dtype, Targets targets);
  /// A call of `constant`.
  Value* EmitConstant(Constant constant, SourceRange range, Targets targets);

 private:
  /// The operands as tensors, also in the call; false where a mistake was reported.
  bool MakeTensors(Call& call, llvm::SmallVectorImpl<Value*>* operands);
  /// Where a call is added: in `block`, or the open body.
  CallOptions OptionsAt(SourceRange place, BlockId block);
  /// Names for the results of a call: the targets, or what is made of the name being assigned.
  llvm::SmallVector<std::string, 1> ResultNames(const OpSignature& signature, size_t num_results,
                                                Targets targets);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  Budget& budget_;
  CalleeTable& callees_;
  Literals& literals_;
  Bodies& bodies_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_CALL_EMITTER_H_
