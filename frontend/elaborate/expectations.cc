#include "frontend/elaborate/expectations.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/test_outputs.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

void Expectations::ElaborateExpect(const ast::ExpectStatement* statement) {
  TestExpect expect;
  expect.range = statement->range;
  at_.frame->base = "expect";
  switch (statement->expect) {
    case ast::ExpectKind::kError:
      return ExpectError(std::move(expect), statement);
    case ast::ExpectKind::kTrue:
      return ExpectTrue(std::move(expect), statement);
    case ast::ExpectKind::kNear:
      return ExpectNear(std::move(expect), statement);
  }
}

void Expectations::ExpectError(TestExpect expect, const ast::ExpectStatement* statement) {
  expect.kind = TestExpect::Kind::kError;
  expect.message = statement->message.value.str();
  // Errors of the call are expected.
  Diagnostics errors;
  const Datum datum =
      report_.Catch(&errors, [&] { return expressions_.Evaluate(statement->value); });
  if (errors.has_errors()) {
    const bool is_it = llvm::any_of(errors.all(), [&](const Diagnostic& error) {
      return llvm::StringRef(error.message).contains(expect.message);
    });
    expect.decided = is_it ? "" : "a different error was reported: " + errors.all().front().message;
  } else if (datum.holds_poison()) {
    return;  // an error that was reported before
  } else if (datum.tensor() == nullptr) {
    expect.decided = "there is no error";
  } else {
    expect.left = test_outputs_.TestOutput(datum.tensor());
  }
  test_.expects.push_back(std::move(expect));
}

void Expectations::ExpectTrue(TestExpect expect, const ast::ExpectStatement* statement) {
  const ast::Expr* value = ast::WithoutParentheses(statement->value);
  const Datum datum = expressions_.Evaluate(value);
  if (datum.holds_poison()) return;
  if (const auto* truth = datum.get<bool>()) {
    expect.decided = *truth ? "" : "this is false";
    test_.expects.push_back(std::move(expect));
    return;
  }
  Value* tensor = datum.tensor();
  if (tensor == nullptr || tensor->type().dtype != DType::kBool) {
    report_.Error(Code::kCondition, value->range,
                  "'expect' takes true or false, got " +
                      (tensor == nullptr ? datum.Phrase() : tensor->type().ToString()));
    return;
  }
  expect.left = test_outputs_.TestOutput(tensor);
  expect.type = tensor->type();
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(value);
  const bool compares = chain != nullptr && chain->operators[0].op >= ast::Operator::kEqual &&
                        chain->operators[0].op < ast::Operator::kIn;
  if (compares && tensor->producer() != nullptr && tensor->producer()->operands().size() == 2) {
    for (unsigned i = 0; i < 2; ++i)
      expect.compared[i] = test_outputs_.TestOutput(tensor->producer()->operands()[i]);
  }
  test_.expects.push_back(std::move(expect));
}

Datum Expectations::EvaluateSide(const ast::Expr* side, std::optional<int64_t>* row) {
  const auto* index = llvm::dyn_cast<ast::IndexExpr>(side);
  const auto* name = index == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(index->base);
  if (name == nullptr || index->subscripts.size() != 1) return expressions_.Evaluate(side);
  const ast::Subscript& subscript = index->subscripts.front();
  auto found = at_.frame->scope.find(name->name);
  Value* tensor = found == at_.frame->scope.end() ? nullptr : found->second.tensor();
  if (tensor == nullptr || tensor->type().ragged_levels() != 1 ||
      subscript.kind != ast::SubscriptKind::kIndex) {
    return expressions_.Evaluate(side);
  }
  const Datum number = expressions_.Evaluate(subscript.start);
  if (number.get<int64_t>() == nullptr) return expressions_.Evaluate(side);
  *row = *number.get<int64_t>();
  return Datum(tensor);
}

bool Expectations::ReadTolerance(const ast::Expr* expr, TestExpect* expect) {
  const Datum tolerance = expressions_.Evaluate(expr);
  const std::optional<double> number = tolerance.number();
  if (number && *number >= 0) {
    expect->tolerance = *number;
    return true;
  }
  if (!tolerance.holds_poison()) {
    report_.Error(Code::kOperandKind, expr->range,
                  "a tolerance is a number of at least 0, got " + tolerance.Phrase());
  }
  return false;
}

void Expectations::ExpectNear(TestExpect expect, const ast::ExpectStatement* statement) {
  expect.kind = TestExpect::Kind::kNear;
  const bool are_rows =
      llvm::isa<ast::IndexExpr>(statement->value) && llvm::isa<ast::IndexExpr>(statement->near);
  auto evaluate = [&](const ast::Expr* side, std::optional<int64_t>* row) {
    return are_rows ? EvaluateSide(side, row) : expressions_.Evaluate(side);
  };
  const Datum left = evaluate(statement->value, &expect.left_row);
  const Datum right = evaluate(statement->near, &expect.right_row);
  if (expect.left_row.has_value() != expect.right_row.has_value()) {
    report_.Error(Code::kStorage,
                  expect.left_row ? statement->value->range : statement->near->range,
                  "a sequence of a ragged tensor can only be compared with a sequence of another");
    return;
  }
  if (statement->tolerance != nullptr && !ReadTolerance(statement->tolerance, &expect)) return;
  if (left.holds_poison() || right.holds_poison()) return;
  auto is_packed = [](const Datum& datum) {
    return datum.tensor() != nullptr && !datum.tensor()->type().is_plain();
  };
  if (is_packed(left) || is_packed(right)) {
    ExpectParts(std::move(expect), left, right, statement);
  } else {
    ExpectDense(std::move(expect), left, right, statement);
  }
}

void Expectations::ExpectDense(TestExpect expect, const Datum& left, const Datum& right,
                               const ast::ExpectStatement* statement) {
  std::optional<DType> dtype;
  if (left.tensor() != nullptr) dtype = left.tensor()->type().dtype;
  if (!dtype && right.tensor() != nullptr) dtype = right.tensor()->type().dtype;
  if (!dtype && left.is_literal() && right.is_literal()) {
    dtype = NaturalDType(left) == DType::kI64 ? NaturalDType(right) : NaturalDType(left);
  }
  Value* a = literals_.AsTensor(left, statement->value->range, dtype, {});
  Value* b = literals_.AsTensor(right, statement->near->range, dtype, {});
  if (a == nullptr || b == nullptr) return;
  const bool is_of_dtype = a->type().dtype == b->type().dtype;
  const bool may_fit = b->type().rank() == 0 || a->type().rank() == b->type().rank();
  if (!is_of_dtype || !may_fit) {
    report_.Error(is_of_dtype ? Code::kRank : Code::kDTypeMismatch, statement->near->range,
                  "the two sides are " + a->type().ToString() + " and " + b->type().ToString());
    return;
  }
  expect.left = test_outputs_.TestOutput(a);
  expect.right = test_outputs_.TestOutput(b);
  expect.type = a->type();
  expect.right_is_scalar = b->type().is_scalar();
  test_.expects.push_back(std::move(expect));
}

void Expectations::ExpectParts(TestExpect expect, const Datum& left, const Datum& right,
                               const ast::ExpectStatement* statement) {
  Value* a = left.tensor();
  Value* b = right.tensor();
  const SourceRange right_range = statement->near->range;
  expect.type = (a != nullptr ? a : b)->type();
  if (expect.type.is_sparse()) {
    report_.Error(Code::kStorage, statement->range, "a sparse matrix cannot be compared");
    return;
  }
  const bool is_scalar = b == nullptr && right.list() == nullptr;
  auto output = [&](const Datum& datum, SourceRange range) {
    Value* tensor = datum.tensor();
    return tensor != nullptr ? test_outputs_.TestOutput(tensor)
                             : test_outputs_.EmitParts(datum, expect.type, range);
  };
  if (a != nullptr && b != nullptr &&
      (a->type().dtype != b->type().dtype ||
       (b->type().rank() != 0 && (a->type().rank() != b->type().rank() ||
                                  a->type().ragged_levels() != b->type().ragged_levels())))) {
    report_.Error(Code::kRank, right_range,
                  "the two sides are " + a->type().ToString() + " and " + b->type().ToString());
    return;
  }
  expect.left = output(left, statement->value->range);
  if (is_scalar) {
    Value* scalar = literals_.AsTensor(right, right_range, expect.type.dtype, {});
    if (scalar != nullptr) expect.right = test_outputs_.TestOutput(scalar);
  } else {
    expect.right = output(right, right_range);
  }
  expect.right_is_scalar = is_scalar || (b != nullptr && b->type().is_scalar());
  if (!expect.left.empty() && !expect.right.empty()) test_.expects.push_back(std::move(expect));
}

}  // namespace pdl
