#include "frontend/elaborate/expressions.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/calls.h"
#include "frontend/elaborate/members.h"
#include "frontend/elaborate/name_expressions.h"
#include "frontend/elaborate/operator_expressions.h"
#include "frontend/elaborate/parameter_records.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/subscripts.h"

namespace pdl {

using ast::ExprKind;
using ast::Operator;

// Recursion is bounded by the nesting of the source: long sums and pipes are flat.
Datum Expressions::Evaluate(const ast::Expr* expr, Targets targets) {
  const Budget::Nesting nesting(budget_);
  if (!nesting.Fits(expr->range) || !budget_.SpendStep(expr->range)) return Datum();
  switch (expr->kind) {
    case ExprKind::kNumber: {
      const auto* number = llvm::cast<ast::NumberExpr>(expr);
      if (number->is_int) return Datum(number->int_value);
      return Datum(Datum::Real{number->float_value, number});
    }
    case ExprKind::kString:
      return Datum(llvm::cast<ast::StringExpr>(expr)->value);
    case ExprKind::kWord: {
      const ast::Word word = llvm::cast<ast::WordExpr>(expr)->word;
      return word == ast::Word::kNone ? Datum::NoneValue() : Datum(word == ast::Word::kTrue);
    }
    case ExprKind::kName:
      return name_expressions_.EvaluateName(llvm::cast<ast::NameExpr>(expr));
    case ExprKind::kRagged:
      return name_expressions_.EvaluateRagged(llvm::cast<ast::RaggedExpr>(expr));
    case ExprKind::kParenthesis:
      return Evaluate(llvm::cast<ast::ParenthesisExpr>(expr)->inner, targets);
    case ExprKind::kList:
      return EvaluateList(llvm::cast<ast::ListExpr>(expr));
    case ExprKind::kRecord:
      return records_.ReadRecord(expr);
    case ExprKind::kCall:
      return UseFirst(calls_.EvaluateCall(llvm::cast<ast::CallExpr>(expr), nullptr, targets),
                      expr->range);
    case ExprKind::kIndex:
      return subscripts_.EvaluateIndex(llvm::cast<ast::IndexExpr>(expr), targets);
    case ExprKind::kMember:
      return members_.EvaluateMember(llvm::cast<ast::MemberExpr>(expr), targets);
    case ExprKind::kPrefix:
      return operators_.EvaluatePrefix(llvm::cast<ast::PrefixExpr>(expr), targets);
    case ExprKind::kChain:
      return operators_.EvaluateChain(llvm::cast<ast::ChainExpr>(expr), targets);
  }
  return Datum();
}

Datum Expressions::EvaluateSize(const ast::Expr* expr) {
  const bool before = std::exchange(at_.frame->dims_first, true);
  Datum datum = Evaluate(expr);
  at_.frame->dims_first = before;
  return datum;
}

CallResults Expressions::EvaluateResults(const ast::Expr* expr, Targets targets) {
  expr = ast::WithoutParentheses(expr);
  if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) {
    return calls_.EvaluateCall(call, nullptr, targets);
  }
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(expr);
  if (chain != nullptr && chain->operators[0].op == Operator::kPipe) {
    return calls_.EvaluatePipe(chain, targets);
  }
  CallResults results;
  results.all.push_back({"", Evaluate(expr, targets), expr->range});
  return results;
}

Datum Expressions::EvaluateList(const ast::ListExpr* list) {
  std::vector<Datum> items;
  items.reserve(list->items.size());
  bool is_copied = false;
  for (const ast::Argument& item : list->items) {
    Datum datum = Evaluate(item.value);
    if (!item.is_spread) {
      items.push_back(std::move(datum));
    } else if (const auto* spread = datum.list()) {
      if (!budget_.MayGrow(items.size(), spread->size(), item.value->range)) return Datum();
      is_copied = true;
      items.insert(items.end(), spread->begin(), spread->end());
    } else {
      if (!datum.is_poison()) {
        report_.Error(Code::kOperandKind, item.value->range,
                      "'...' spreads a list, got " + datum.Phrase());
      }
      items.push_back(Datum());
    }
  }
  if (at_.IsRepeated() && !budget_.MayGrow(items.size(), 0, list->range)) return Datum();
  return budget_.MakeList(std::move(items), list->range, is_copied);
}

Datum Expressions::Use(const CallResult& result, SourceRange place) {
  if (!result.missing.empty()) {
    report_.Error(Code::kOperandCount, place,
                  "this needs " + result.missing + ", which is not given");
  }
  return result.datum;
}

}  // namespace pdl
