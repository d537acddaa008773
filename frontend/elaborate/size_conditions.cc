#include "frontend/elaborate/size_conditions.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/fold.h"
#include "frontend/elaborate/operator_expressions.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/elaborate/type_reader.h"
#include "frontend/format/format_tokens.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::Operator;

namespace {

/// A size that is 1 if a relation holds, else 0.
Dim OneWhereHolds(const DimCheck& check) {
  const Dim difference = check.left - check.right;
  if (check.relation == DimCheck::Relation::kAtLeast)
    return Dim::Min(Dim(1), Dim::Max(Dim(0), difference + 1));
  // The 0 provides the lower bound, which is not derived from a maximum.
  const Dim distance = Dim::Max(Dim(0), Dim::Max(difference, Dim(0) - difference));
  const Dim differs = Dim::Min(Dim(1), distance);
  return check.relation == DimCheck::Relation::kNotEqual ? differs : 1 - differs;
}

/// The relation that such a size is 1.
DimCheck TruthCheck(const Dim& truth, llvm::StringRef text) {
  return {truth, DimCheck::Relation::kAtLeast, 1, ("'" + text + "' does not hold").str()};
}

}  // namespace

bool SizeConditions::Read(const ast::Expr* condition, std::vector<DimCheck>* checks, bool* failed) {
  const Budget::Nesting nesting(budget_);
  if (!nesting.Fits(condition->range) || !budget_.SpendStep(condition->range)) return false;
  if (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(condition)) {
    return Read(parenthesis->inner, checks, failed);
  }
  if (const auto* prefix = llvm::dyn_cast<ast::PrefixExpr>(condition);
      prefix != nullptr && prefix->op == Operator::kNot) {
    return ReadDenied(prefix, checks, failed);
  }
  if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(condition)) {
    const Operator op = chain->operators[0].op;
    if (op == Operator::kAnd) {
      bool ok = true;
      for (const ast::Expr* operand : chain->operands) ok &= Read(operand, checks, failed);
      return ok;
    }
    if (op == Operator::kOr) return ReadAlternatives(chain, checks, failed);
    if (op >= Operator::kEqual && op <= Operator::kIn) {
      if (std::optional<bool> ok = ReadRelation(chain, checks, failed)) return *ok;
    }
  }
  const Datum datum = expressions_.EvaluateSize(condition);
  if (datum.holds_poison()) return false;
  if (values_ != nullptr && datum.tensor() != nullptr) return AddValue(datum, condition->range);
  const auto* truth = datum.get<bool>();
  if (truth == nullptr) {
    report_.Error(Code::kUnknownSize, condition->range,
                  "expected a condition on sizes and constants, got " + datum.Phrase());
    return false;
  }
  *failed |= !*truth;
  return true;
}

bool SizeConditions::ReadWithValues(const ast::Expr* condition, std::vector<DimCheck>* checks,
                                    std::vector<Operand>* values, bool* failed) {
  std::vector<Operand>* const outer = std::exchange(values_, values);
  const bool ok = Read(condition, checks, failed);
  values_ = outer;
  return ok;
}

bool SizeConditions::AddValue(const Datum& value, SourceRange range) {
  if (value.holds_poison()) return false;
  const Type& type = value.tensor()->type();
  if (type.dtype != DType::kBool || type.storage != Storage::kDense) {
    report_.Error(Code::kCondition, range, "a condition is bool, got " + type.ToString());
    return false;
  }
  values_->push_back({value, range});
  return true;
}

Datum SizeConditions::EmitCheck(const DimCheck& check, SourceRange range) {
  Operator op = Operator::kGreaterEqual;
  if (check.relation == DimCheck::Relation::kEqual) op = Operator::kEqual;
  if (check.relation == DimCheck::Relation::kNotEqual) op = Operator::kNotEqual;
  Value* left = emitter_.EmitSize(check.left, range, DType::kI64, {});
  Value* right = emitter_.EmitSize(check.right, range, DType::kI64, {});
  if (left == nullptr || right == nullptr) return Datum();
  return operators_.EvaluateInfix({op, range}, {Datum(left), range}, {Datum(right), range}, {});
}

Operand SizeConditions::Conjunction(llvm::ArrayRef<DimCheck> checks, llvm::ArrayRef<Operand> values,
                                    SourceRange range) {
  std::vector<Operand> parts;
  for (const DimCheck& check : checks) parts.push_back({EmitCheck(check, range), range});
  parts.insert(parts.end(), values.begin(), values.end());
  Operand all{Datum(true), range};
  for (const Operand& part : parts) {
    all = all.datum.tensor() == nullptr
              ? part
              : Operand{operators_.EvaluateInfix({Operator::kAnd, range}, all, part, {}), range};
    if (all.datum.is_poison()) break;
  }
  return all;
}

bool SizeConditions::CanDecide(const Dim& holds, SourceRange range) {
  if (holds.is_valid()) return true;
  report_.Error(Code::kArithmetic, range,
                "this condition cannot be decided: a size in it leaves 64 bits, or it is too long");
  return false;
}

bool SizeConditions::Add(DimCheck check, SourceRange place, std::vector<DimCheck>* checks,
                         bool* failed) {
  if (!check.left.is_valid() || !check.right.is_valid()) {
    report_.Error(Code::kArithmetic, place, "the difference of these sizes leaves 64 bits");
    return false;
  }
  if (!budget_.SpendCheck(check, place)) return true;
  const Truth truth = constraints_.Decide(check);
  if (truth == Truth::kFalse) *failed = true;
  if (truth == Truth::kUnknown) checks->push_back(std::move(check));
  return true;
}

std::optional<bool> SizeConditions::ReadRelation(const ast::ChainExpr* chain,
                                                 std::vector<DimCheck>* checks, bool* failed) {
  const ast::OperatorUse use = chain->operators[0];
  const Datum left = expressions_.EvaluateSize(chain->operands[0]);
  if (use.op == Operator::kIn) {
    const ast::ChainExpr* range = ast::AsRange(chain->operands[1]);
    if (range != nullptr && values_ != nullptr && left.tensor() != nullptr)
      return ReadValueInRange({left, chain->operands[0]->range}, range);
    if (range == nullptr || !left.dim()) return std::nullopt;
    return ReadInRange(chain, *left.dim(), range, checks, failed);
  }
  const Datum right = expressions_.EvaluateSize(chain->operands[1]);
  if (left.holds_poison() || right.holds_poison()) return false;
  if (left.dim() && right.dim()) {
    if (const std::string reason = NotComparable(use.op, *left.dim(), *right.dim());
        !reason.empty()) {
      report_.Error(Code::kArithmetic, use.range, reason);
      return false;
    }
    return Add(MakeCheck(use.op, *left.dim(), *right.dim()), chain->range, checks, failed);
  }
  if (values_ != nullptr && (left.tensor() != nullptr || right.tensor() != nullptr)) {
    return AddValue(operators_.EvaluateInfix(use, {left, chain->operands[0]->range},
                                             {right, chain->operands[1]->range}, {}),
                    chain->range);
  }
  if (left.holds_tensor() || right.holds_tensor()) return std::nullopt;
  llvm::Expected<Datum> truth = FoldInfix(use.op, left, right);
  if (truth) {
    *failed |= !*truth->get<bool>();
    return true;
  }
  report_.Error(Code::kArithmetic, use.range, llvm::toString(truth.takeError()));
  return false;
}

bool SizeConditions::ReadInRange(const ast::ChainExpr* chain, const Dim& item,
                                 const ast::ChainExpr* range, std::vector<DimCheck>* checks,
                                 bool* failed) {
  auto end_of_range = [&](const ast::Expr* end) {
    return types_.AsDim(expressions_.EvaluateSize(end), end->range, "the end of a range");
  };
  const std::optional<Dim> low = end_of_range(range->operands[0]);
  const std::optional<Dim> high = end_of_range(range->operands[1]);
  if (!low || !high) return false;
  for (const Dim& end : {*low, *high}) {
    if (const std::string reason = NotComparable(Operator::kLess, item, end); !reason.empty()) {
      report_.Error(Code::kArithmetic, chain->operators[0].range, reason);
      return false;
    }
  }
  const bool takes_end = range->operators[0].op == Operator::kRangeTo;
  return Add(MakeCheck(Operator::kGreaterEqual, item, *low), chain->range, checks, failed) &&
         Add(MakeCheck(takes_end ? Operator::kLessEqual : Operator::kLess, item, *high),
             chain->range, checks, failed);
}

bool SizeConditions::ReadValueInRange(const Operand& item, const ast::ChainExpr* range) {
  const bool takes_end = range->operators[0].op == Operator::kRangeTo;
  const Operator ops[] = {Operator::kGreaterEqual,
                          takes_end ? Operator::kLessEqual : Operator::kLess};
  for (size_t i = 0; i < 2; ++i) {
    const Operand end{expressions_.EvaluateSize(range->operands[i]), range->operands[i]->range};
    const Datum holds =
        operators_.EvaluateInfix({ops[i], range->operators[0].range}, item, end, {});
    if (!AddValue(holds, Span(item.range, range->range))) return false;
  }
  return true;
}

bool SizeConditions::ReadDenied(const ast::PrefixExpr* denied, std::vector<DimCheck>* checks,
                                bool* failed) {
  std::vector<DimCheck> open;
  std::vector<Operand> values;
  bool is_false = false;
  const bool ok = values_ == nullptr ? Read(denied->operand, &open, &is_false)
                                     : ReadWithValues(denied->operand, &open, &values, &is_false);
  if (!ok) return false;
  if (is_false) return true;
  if (!values.empty()) {
    const Operand all = Conjunction(open, values, denied->range);
    return !all.datum.is_poison() &&
           AddValue(operators_.EvaluateNot(all, denied->range), denied->range);
  }
  if (open.empty()) *failed = true;
  Dim holds = 1;
  for (const DimCheck& check : open) holds = Dim::Min(holds, OneWhereHolds(check));
  if (open.empty()) return true;
  if (!CanDecide(holds, denied->range)) return false;
  // A condition that is already known to hold adds nothing.
  DimCheck check = TruthCheck(1 - holds, OneLine(at_.file->Text(denied->range)));
  if (!budget_.SpendCheck(check, denied->range)) return false;
  const Truth truth = constraints_.Decide(check);
  if (truth == Truth::kFalse) *failed = true;
  if (truth == Truth::kUnknown) checks->push_back(std::move(check));
  return true;
}

bool SizeConditions::AddAlternatives(llvm::ArrayRef<std::vector<DimCheck>> checks,
                                     llvm::ArrayRef<std::vector<Operand>> values,
                                     SourceRange range) {
  Operand any = Conjunction(checks[0], values[0], range);
  for (size_t i = 1; i < checks.size() && !any.datum.is_poison(); ++i) {
    any.datum = operators_.EvaluateInfix({Operator::kOr, range}, any,
                                         Conjunction(checks[i], values[i], range), {});
  }
  return !any.datum.is_poison() && AddValue(any.datum, range);
}

bool SizeConditions::ReadAlternatives(const ast::ChainExpr* chain, std::vector<DimCheck>* checks,
                                      bool* failed) {
  std::vector<std::vector<DimCheck>> open;
  std::vector<std::vector<Operand>> open_values;
  bool has_values = false;
  for (const ast::Expr* operand : chain->operands) {
    std::vector<DimCheck> expected;
    std::vector<Operand> values;
    bool is_false = false;
    const bool ok = values_ == nullptr ? Read(operand, &expected, &is_false)
                                       : ReadWithValues(operand, &expected, &values, &is_false);
    if (!ok) return false;
    if (!is_false && expected.empty() && values.empty()) return true;
    if (is_false) continue;
    has_values |= !values.empty();
    open.push_back(std::move(expected));
    open_values.push_back(std::move(values));
  }
  if (has_values) return AddAlternatives(open, open_values, chain->range);
  if (open.empty()) *failed = true;
  if (open.size() < 2) {
    for (std::vector<DimCheck>& one : open) llvm::move(one, std::back_inserter(*checks));
    return true;
  }
  Dim any = 0;
  for (const std::vector<DimCheck>& all : open) {
    Dim holds = 1;
    for (const DimCheck& check : all) holds = Dim::Min(holds, OneWhereHolds(check));
    any = Dim::Max(any, holds);
  }
  if (!CanDecide(any, chain->range)) return false;
  DimCheck check = TruthCheck(any, OneLine(at_.file->Text(chain->range)));
  if (!budget_.SpendCheck(check, chain->range)) return false;
  const Truth truth = constraints_.Decide(check);
  if (truth == Truth::kFalse) *failed = true;
  if (truth == Truth::kUnknown) checks->push_back(std::move(check));
  return true;
}

}  // namespace pdl
