#ifndef PDL_FRONTEND_ELABORATE_BRANCHES_H_
#define PDL_FRONTEND_ELABORATE_BRANCHES_H_

#include "frontend/elaborate/elaboration_state.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl {

class Budget;
class CallEmitter;
class CalleeTable;
class Expressions;
class Literals;
class NameTable;
class OperatorExpressions;
class Reporter;
class RunChecks;
class SizeConditions;
class SizeConstraints;
class Statements;

/// `if`: decided at compile time or, if it depends on `training` or symbols, by each Plan.
class Branches {
 public:
  Branches(Position& at, Graph& graph, ValueState& values, Reporter& report, Budget& budget,
           NameTable& names, CalleeTable& callees, SizeConstraints& constraints,
           SizeConditions& conditions, CallEmitter& emitter, Literals& literals,
           Expressions& expressions, OperatorExpressions& operators, RunChecks& run_checks,
           Statements& statements)
      : at_(at),
        graph_(graph),
        values_(values),
        report_(report),
        budget_(budget),
        names_(names),
        callees_(callees),
        constraints_(constraints),
        conditions_(conditions),
        emitter_(emitter),
        literals_(literals),
        expressions_(expressions),
        operators_(operators),
        run_checks_(run_checks),
        statements_(statements) {}

  /// Elaborates the first branch whose condition holds, or both branches if a Plan decides.
  void ElaborateBranches(llvm::ArrayRef<ast::Branch> branches);

 private:
  /// The names and states that the branches of an `if` decided by a Plan have set.
  struct BothSides;

  /// The value of the condition of an `if`: a bool, a tensor that a Plan knows, or poison.
  Datum EvaluateCondition(const ast::Expr* expr);
  /// The value as a condition; reports an error and returns poison if it is none.
  Datum CheckCondition(const Datum& datum, SourceRange range);
  Datum EvaluateNot(const ast::PrefixExpr* prefix);
  Datum EvaluateAndOr(const ast::ChainExpr* chain);
  /// A relation between sizes; nullopt if the expression is something else.
  std::optional<Datum> EvaluateRelation(const ast::ChainExpr* chain);
  /// Elaborates each branch from the same names; where the branches differ, the Plan selects.
  void ElaborateBothSides(Value* condition, const ast::Branch& then,
                          llvm::ArrayRef<ast::Branch> otherwise);
  /// Elaborates one branch, records what it set, and reverts that.
  void ElaborateSide(BothSides* both, unsigned side, llvm::function_ref<void()> elaborate);
  /// The value that the Plan selects; reports an error and returns null if the types differ.
  Value* SelectSide(BothSides* both, Value* first, Value* second, llvm::StringRef name);
  Datum SelectDatum(BothSides* both, const Datum& first, const Datum& second, llvm::StringRef name);

  Position& at_;
  Graph& graph_;
  ValueState& values_;
  Reporter& report_;
  Budget& budget_;
  NameTable& names_;
  CalleeTable& callees_;
  SizeConstraints& constraints_;
  SizeConditions& conditions_;
  CallEmitter& emitter_;
  Literals& literals_;
  Expressions& expressions_;
  OperatorExpressions& operators_;
  RunChecks& run_checks_;
  Statements& statements_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_BRANCHES_H_
