#include "frontend/elaborate/constant_expressions.h"

#include <utility>
#include <vector>

#include "frontend/elaborate/fold.h"

namespace pdl {
namespace {

std::optional<Datum> ValueOrNone(llvm::Expected<Datum> folded) {
  if (folded) return std::move(*folded);
  llvm::consumeError(folded.takeError());
  return std::nullopt;
}

std::optional<Datum> EvaluateChain(const ast::ChainExpr& chain) {
  using ast::Operator;
  const Operator first = chain.operators[0].op;
  if (first == Operator::kPipe || first == Operator::kIn || ast::AsRange(&chain) != nullptr)
    return std::nullopt;
  std::vector<Datum> operands;
  for (const ast::Expr* operand : chain.operands) {
    std::optional<Datum> value = EvaluateConstant(operand);
    if (!value) return std::nullopt;
    operands.push_back(std::move(*value));
  }
  // A power groups from the right, all others from the left.
  const size_t count = chain.operators.size();
  std::optional<Datum> result = first == Operator::kPower ? operands.back() : operands.front();
  for (size_t k = 0; k < count && result; ++k) {
    const size_t i = first == Operator::kPower ? count - 1 - k : k;
    result = ValueOrNone(first == Operator::kPower
                             ? FoldInfix(chain.operators[i].op, operands[i], *result)
                             : FoldInfix(chain.operators[i].op, *result, operands[i + 1]));
  }
  return result;
}

}  // namespace

std::optional<Datum> EvaluateConstant(const ast::Expr* expr) {
  if (const auto* number = llvm::dyn_cast<ast::NumberExpr>(expr)) {
    if (number->is_int) return Datum(number->int_value);
    return Datum(Datum::Real{number->float_value, number});
  }
  if (const auto* text = llvm::dyn_cast<ast::StringExpr>(expr)) return Datum(text->value);
  if (const auto* word = llvm::dyn_cast<ast::WordExpr>(expr))
    return word->word == ast::Word::kNone ? Datum::NoneValue()
                                          : Datum(word->word == ast::Word::kTrue);
  if (const auto* inner = llvm::dyn_cast<ast::ParenthesisExpr>(expr))
    return EvaluateConstant(inner->inner);
  if (const auto* prefix = llvm::dyn_cast<ast::PrefixExpr>(expr)) {
    const std::optional<Datum> operand = EvaluateConstant(prefix->operand);
    return operand ? ValueOrNone(FoldPrefix(prefix->op, *operand)) : std::nullopt;
  }
  if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(expr)) return EvaluateChain(*chain);
  const auto* list = llvm::dyn_cast<ast::ListExpr>(expr);
  if (list == nullptr) return std::nullopt;
  std::vector<Datum> items;
  for (const ast::Argument& item : list->items) {
    std::optional<Datum> value = item.is_spread ? std::nullopt : EvaluateConstant(item.value);
    if (!value) return std::nullopt;
    items.push_back(std::move(*value));
  }
  return Datum(std::move(items));
}

}  // namespace pdl
