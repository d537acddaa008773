#include "frontend/elaborate/builtins.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/given_parameters.h"
#include "frontend/elaborate/layer_copies.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/parameter_names.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/type_reader.h"
#include "frontend/elaborate/unused_names.h"

namespace pdl {

std::optional<Datum> Builtins::EvaluateBuiltin(const ast::CallExpr* expr, const Operand* piped) {
  const auto* callee = llvm::dyn_cast<ast::NameExpr>(expr->callee);
  if (callee == nullptr) return std::nullopt;
  const llvm::StringRef name = callee->name;
  const size_t count = expr->arguments.size() + (piped != nullptr ? 1 : 0);
  if (piped == nullptr && name == "params" && expr->arguments.size() == 1 &&
      !expr->arguments[0].is_named())
    return EvaluateParams(expr);
  const bool is_query = name == "len" || name == "dims" || name == "dtype";
  const bool is_min_max = at_.frame->dims_first && (name == "min" || name == "max") && count == 2;
  if (!is_query && !is_min_max) return std::nullopt;
  std::vector<Operand> operands;
  if (piped != nullptr) operands.push_back(*piped);
  for (const ast::Argument& argument : expr->arguments) {
    if (argument.is_named() || argument.is_spread) return std::nullopt;
    operands.push_back({expressions_.Evaluate(argument.value), argument.value->range});
    if (operands.back().datum.is_poison()) return Datum();
  }
  if (is_min_max) {
    const std::optional<Dim> a = types_.AsDim(operands[0].datum, operands[0].range, "a size");
    const std::optional<Dim> b = types_.AsDim(operands[1].datum, operands[1].range, "a size");
    if (!a || !b) return Datum();
    const Dim min_max = name == "min" ? Dim::Min(*a, *b) : Dim::Max(*a, *b);
    if (min_max.is_valid()) return Datum(min_max);
    report_.Error(Code::kArithmetic, expr->range,
                  "'" + name + "' of " + a->ToString() + " and " + b->ToString() +
                      " leaves 64 bits, or is too long");
    return Datum();
  }
  if (count != 1) {
    report_.Error(Code::kOperandCount, callee->range,
                  "'" + name + "' takes 1 input, got " + llvm::Twine(count));
    return Datum();
  }
  const Datum& operand = operands[0].datum;
  if (name == "len") {
    if (const auto* items = operand.list()) return Datum(static_cast<int64_t>(items->size()));
    report_.Error(Code::kOperandKind, operands[0].range,
                  "'len' takes a list, got " + operand.Phrase());
    return Datum();
  }
  Value* tensor = operand.tensor();
  if (tensor == nullptr) {
    report_.Error(Code::kOperandKind, operands[0].range,
                  "'" + name + "' takes a tensor, got " + operand.Phrase());
    return Datum();
  }
  unused_.AddTypeUse(tensor);
  if (name == "dtype") return Datum(tensor->type().dtype);
  std::vector<Datum> dims;
  for (const Dim& dim : tensor->type().dims) dims.push_back(Datum(dim));
  if (at_.IsRepeated() && !budget_.MayGrow(0, dims.size(), expr->range)) return Datum();
  return budget_.MakeList(std::move(dims), expr->range);
}

Datum Builtins::EvaluateParams(const ast::CallExpr* expr) {
  const ast::Expr* name = expr->arguments[0].value;
  std::vector<Value*> parameters;
  if (const std::string copy = copies_.PathOf(at_.file->Text(name->range)); !copy.empty()) {
    for (Value* state : copies_.ParametersOf(copy, name->range))
      parameters.push_back(names_.CurrentState(state));
  } else {
    if (!parameter_names_.ReadParameters(name, &parameters)) return Datum();
    for (Value*& parameter : parameters) parameter = given_parameters_.Replace(parameter);
  }
  if (at_.IsRepeated() && !budget_.MayGrow(0, parameters.size(), expr->range)) return Datum();
  return budget_.MakeList(std::vector<Datum>(parameters.begin(), parameters.end()), expr->range);
}

}  // namespace pdl
