#include "frontend/elaborate/operator_expressions.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/calls.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/fold.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/elaborate/sugar.h"

namespace pdl {

using ast::Operator;

Datum OperatorExpressions::EvaluatePrefix(const ast::PrefixExpr* prefix, Targets targets) {
  const Datum operand = expressions_.Evaluate(prefix->operand);
  if (operand.holds_poison()) return Datum();
  if (operand.tensor() == nullptr) {
    llvm::Expected<Datum> result = FoldPrefix(prefix->op, operand);
    if (result) return *result;
    report_.Error(Code::kArithmetic, prefix->range, llvm::toString(result.takeError()));
    return Datum();
  }
  return EmitPrefix(prefix->op, {operand, prefix->operand->range},
                    {prefix->range.begin, prefix->operand->range.begin}, targets);
}

Datum OperatorExpressions::EvaluateNot(const Operand& operand, SourceRange place) {
  return EmitPrefix(Operator::kNot, operand, place, {});
}

Datum OperatorExpressions::EmitPrefix(Operator op, const Operand& operand, SourceRange place,
                                      Targets targets) {
  Call call;
  call.def = callees_.FindOperator(sugar::OperatorFor(op));
  call.place = place;
  call.operands.push_back(operand);
  Op* emitted = emitter_.Emit(call, targets);
  return emitted == nullptr ? Datum() : Datum(emitted->result());
}

Datum OperatorExpressions::EvaluateInfix(ast::OperatorUse use, Operand left, Operand right,
                                         Targets targets) {
  if (left.datum.holds_poison() || right.datum.holds_poison()) return Datum();
  // It is known whether an input was left out: a tensor is not `none`.
  const bool asks_for_none = (use.op == Operator::kEqual || use.op == Operator::kNotEqual) &&
                             (left.datum.is<Datum::None>() || right.datum.is<Datum::None>());
  if (asks_for_none || (!left.datum.holds_tensor() && !right.datum.holds_tensor())) {
    if (!budget_.SpendSizes(left.datum, right.datum, use.range)) return Datum();
    llvm::Expected<Datum> result = FoldInfix(use.op, left.datum, right.datum);
    if (result) return *result;
    Diagnostic& diagnostic =
        report_.Error(Code::kArithmetic, use.range, llvm::toString(result.takeError()));
    diagnostic.Underline(left.range).Underline(right.range);
    return Datum();
  }
  const llvm::StringRef name = sugar::OperatorFor(use.op);
  if (name.empty()) {
    report_.Error(Code::kOperandKind, use.range,
                  "'" + ast::Spelling(use.op) + "' does not take tensors");
    return Datum();
  }
  Call call;
  call.def = callees_.FindOperator(name);
  call.place = use.range;
  // For '@' an index is a one-hot row: it selects rows of the table.
  const Value* index = left.datum.tensor();
  const bool is_index =
      use.op == Operator::kMatmul && index != nullptr && index->type().index_bound;
  if (is_index && right.datum.is_literal() && right.datum.list() != nullptr) {
    // The table keeps its own dtype.
    right.datum =
        Datum(literals_.AsTensor(right.datum, right.range, NaturalDType(right.datum), {}));
    if (right.datum.tensor() == nullptr) return Datum();
  }
  const bool takes_rows =
      is_index && right.datum.tensor() != nullptr && right.datum.tensor()->type().rank() == 2;
  if (takes_rows) {
    const Operand& table = right;
    if (!MatchRows(*index, *table.datum.tensor(), use.range)) return Datum();
    call.def = callees_.FindOperator(sugar::kTakeRows);
    std::swap(left, right);
  }
  call.operands.push_back(std::move(left));
  call.operands.push_back(std::move(right));
  Op* op = emitter_.Emit(call, targets);
  return op == nullptr ? Datum() : Datum(op->result());
}

// Checks that an index with a bound V selects from a table with V rows.
bool OperatorExpressions::MatchRows(const Value& index, const Value& table, SourceRange place) {
  DimCheck check = MakeCheck(Operator::kEqual, table.type().dims[0], *index.type().index_bound);
  const Truth truth = constraints_.Decide(check);
  if (truth == Truth::kUnknown)
    constraints_.Add(std::move(check), at_.AddLocation(graph_, place.begin));
  if (truth != Truth::kFalse) return true;
  report_.Error(Code::kShapeMismatch, place,
                "an index below " + index.type().index_bound->ToString() +
                    " takes rows of a table of " + table.type().dims[0].ToString());
  return false;
}

Datum OperatorExpressions::EvaluateIn(const ast::ChainExpr* chain) {
  const Datum left = expressions_.Evaluate(chain->operands[0]);
  const auto* range = llvm::dyn_cast<ast::ChainExpr>(chain->operands[1]);
  const bool is_range = range != nullptr && (range->operators[0].op == Operator::kRange ||
                                             range->operators[0].op == Operator::kRangeTo);
  if (is_range) {
    const bool takes_end = range->operators[0].op == Operator::kRangeTo;
    const Operand item{left, chain->operands[0]->range};
    const Operand low{expressions_.Evaluate(range->operands[0]), range->operands[0]->range};
    const Operand high{expressions_.Evaluate(range->operands[1]), range->operands[1]->range};
    const SourceRange sign = chain->operators[0].range;
    const Datum above = EvaluateInfix({Operator::kGreaterEqual, sign}, item, low, {});
    const Datum below =
        EvaluateInfix({takes_end ? Operator::kLessEqual : Operator::kLess, sign}, item, high, {});
    if (above.holds_poison() || below.holds_poison()) return Datum();
    if (above.get<bool>() != nullptr && below.get<bool>() != nullptr) {
      return Datum(*above.get<bool>() && *below.get<bool>());
    }
    report_.Error(Code::kOperandKind, sign, "'in' does not take tensors");
    return Datum();
  }
  const Datum right = expressions_.Evaluate(chain->operands[1]);
  if (left.holds_poison() || right.holds_poison()) return Datum();
  const auto* items = right.list();
  if (items == nullptr || left.holds_tensor() || right.holds_tensor()) {
    report_.Error(Code::kOperandKind, chain->operands[1]->range,
                  "'in' takes a range or a list of constants, got " + right.Phrase());
    return Datum();
  }
  if (!budget_.Spend(items->size(), chain->range)) return Datum();
  for (const Datum& item : *items) {
    llvm::Expected<Datum> is_equal = FoldInfix(Operator::kEqual, left, item);
    if (!is_equal) {
      llvm::consumeError(is_equal.takeError());
    } else if (const auto* truth = is_equal->get<bool>(); truth != nullptr && *truth) {
      return Datum(true);
    }
  }
  return Datum(false);
}

Datum OperatorExpressions::EvaluateChain(const ast::ChainExpr* chain, Targets targets) {
  switch (chain->operators[0].op) {
    case Operator::kPipe:
      return expressions_.UseFirst(calls_.EvaluatePipe(chain, targets), chain->range);
    case Operator::kIn:
      return EvaluateIn(chain);
    case Operator::kRange:
    case Operator::kRangeTo:
      report_.Error(Code::kOperandKind, chain->range, "a range may only appear after 'in'");
      return Datum();
    case Operator::kPower: {
      // Groups from the right.
      const size_t count = chain->operands.size();
      std::vector<Datum> values;
      for (const ast::Expr* operand : chain->operands)
        values.push_back(expressions_.Evaluate(operand));
      Operand right{values.back(), chain->operands.back()->range};
      for (size_t i = count - 1; i-- > 0;) {
        const SourceRange range = chain->operands[i]->range;
        Datum result = EvaluateInfix(chain->operators[i], {values[i], range}, right,
                                     i == 0 ? targets : Targets());
        right = {std::move(result), Span(range, chain->operands.back()->range)};
      }
      return right.datum;
    }
    default: {
      Operand left{expressions_.Evaluate(chain->operands[0]), chain->operands[0]->range};
      for (size_t i = 1; i < chain->operands.size(); ++i) {
        const bool is_last = i + 1 == chain->operands.size();
        Operand right{expressions_.Evaluate(chain->operands[i]), chain->operands[i]->range};
        const SourceRange range = Span(left.range, right.range);
        left.datum = EvaluateInfix(chain->operators[i - 1], left, std::move(right),
                                   is_last ? targets : Targets());
        left.range = range;
      }
      return left.datum;
    }
  }
}

}  // namespace pdl
