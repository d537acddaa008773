#ifndef PDL_FRONTEND_ELABORATE_OPERATOR_EXPRESSIONS_H_
#define PDL_FRONTEND_ELABORATE_OPERATOR_EXPRESSIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class CallEmitter;
class CalleeTable;
class Calls;
class Expressions;
class Literals;
class Reporter;
class SizeConstraints;

/// Operator symbols: arithmetic and comparisons, folded for constants, calls of operators for
/// tensors.
class OperatorExpressions {
 public:
  OperatorExpressions(Position& at, Graph& graph, Reporter& report, Budget& budget,
                      CalleeTable& callees, SizeConstraints& constraints, CallEmitter& emitter,
                      Literals& literals, Expressions& expressions, Calls& calls)
      : at_(at),
        graph_(graph),
        report_(report),
        budget_(budget),
        callees_(callees),
        constraints_(constraints),
        emitter_(emitter),
        literals_(literals),
        expressions_(expressions),
        calls_(calls) {}

  /// `-x`, `not x`.
  Datum EvaluatePrefix(const ast::PrefixExpr* prefix, Targets targets);
  /// `not x` for a tensor.
  Datum EvaluateNot(const Operand& operand, SourceRange place);
  /// A binary operator with its operands.
  Datum EvaluateInfix(ast::OperatorUse use, Operand left, Operand right, Targets targets);
  /// Operands and the operators between them, which have the same precedence.
  Datum EvaluateChain(const ast::ChainExpr* chain, Targets targets);

 private:
  Datum EmitPrefix(ast::Operator op, const Operand& operand, SourceRange place, Targets targets);
  bool MatchRows(const Value& index, const Value& table, SourceRange place);
  Datum EvaluateIn(const ast::ChainExpr* chain);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  Budget& budget_;
  CalleeTable& callees_;
  SizeConstraints& constraints_;
  CallEmitter& emitter_;
  Literals& literals_;
  Expressions& expressions_;
  Calls& calls_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_OPERATOR_EXPRESSIONS_H_
