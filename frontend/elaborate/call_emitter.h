#ifndef PDL_FRONTEND_ELABORATE_CALL_EMITTER_H_
#define PDL_FRONTEND_ELABORATE_CALL_EMITTER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Bodies;
class Budget;
class CalleeTable;
class Literals;
class Reporter;
class SizeConstraints;

/// Adds calls of operators to the graph.
class CallEmitter {
 public:
  CallEmitter(Position& at, Graph& graph, Reporter& report, Budget& budget,
              SizeConstraints& constraints, CalleeTable& callees, Literals& literals,
              Bodies& bodies)
      : at_(at),
        graph_(graph),
        report_(report),
        budget_(budget),
        constraints_(constraints),
        callees_(callees),
        literals_(literals),
        bodies_(bodies) {}

  /// Adds the call; literals among its operands become constants with the dtype of the other
  /// operands. Returns null if an error was reported.
  Op* Emit(Call& call, Targets targets);
  /// The results under the names that the operator declares; none if `op` is null.
  CallResults ResultsOf(Op* op);
  /// A scalar computed from an expression of symbols.
  Value* EmitSize(const Dim& size, SourceRange range, DType dtype, Targets targets);
  /// A call of `constant`.
  Value* EmitConstant(Constant constant, SourceRange range, Targets targets);

 private:
  /// Converts the operands to tensors, also in the call. Returns false if an error was reported.
  bool MakeTensors(Call& call, llvm::SmallVectorImpl<Value*>* operands);
  /// Reports a relation between sizes that the call requires and that only empty tensors satisfy.
  bool CheckNonempty(const Op& op, const Call& call);
  /// The position of a new call: in `block`, or in the open body.
  CallOptions OptionsAt(SourceRange place, BlockId block);
  /// Names for the results of a call: the targets, or names derived from the name being assigned.
  llvm::SmallVector<std::string, 1> ResultNames(const OpSignature& signature, size_t num_results,
                                                Targets targets);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  Budget& budget_;
  SizeConstraints& constraints_;
  CalleeTable& callees_;
  Literals& literals_;
  Bodies& bodies_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_CALL_EMITTER_H_
