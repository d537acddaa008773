#ifndef PDL_FRONTEND_ELABORATE_RUN_CHECKS_H_
#define PDL_FRONTEND_ELABORATE_RUN_CHECKS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class CalleeTable;
class CallEmitter;
class Literals;

/// Emits checks that are made when the network runs.
class RunChecks {
 public:
  RunChecks(Position& at, Graph& graph, CalleeTable& callees, CallEmitter& emitter,
            Literals& literals)
      : at_(at), graph_(graph), callees_(callees), emitter_(emitter), literals_(literals) {}

  /// Requires all elements of a bool tensor to be true. In one branch of an `if` that a Plan
  /// decides, the check is kept in the journal until the branch is complete.
  void Assert(const Operand& condition, llvm::StringRef message);
  /// Requires the assertions of the branches of an `if`: those of side 0 if the condition holds,
  /// those of side 1 if it does not.
  void AssertBranch(const Operand& condition, unsigned side,
                    llvm::ArrayRef<Journal::Assertion> assertions);
  /// The value with the range of the declared type, which its elements are checked against, if it
  /// has the declared dtype but no range of its own; else the value itself. Returns null if an
  /// error was reported.
  Value* InDeclaredRange(Value* value, const Type& declared, SourceRange place, Targets targets);
  /// The value with the range of the declared type, if that has one, which its elements are checked
  /// against if their range is another one. Returns null if an error was reported.
  Value* WithRange(Value* value, const Type& declared, SourceRange place, Targets targets);

 private:
  Op* Emit(llvm::StringRef op, llvm::ArrayRef<Operand> operands,
           llvm::ArrayRef<NamedAttribute> attributes, SourceRange place, Targets targets,
           std::optional<LocationId> location = std::nullopt);
  /// Emits `assert_true`, or adds the assertion to the journal.
  void Add(Journal::Assertion assertion);

  Position& at_;
  Graph& graph_;
  CalleeTable& callees_;
  CallEmitter& emitter_;
  Literals& literals_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_RUN_CHECKS_H_
