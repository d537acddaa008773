#include "frontend/elaborate/gradients.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/sugar.h"
#include "frontend/elaborate/type_reader.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/differentiate.h"

namespace pdl {

namespace {

// Whether `value` is computed from `from`.
bool DependsOn(Value* value, const Value* from) {
  llvm::SmallVector<Value*, 16> pending = {value};
  llvm::DenseSet<const Value*> seen;
  while (!pending.empty()) {
    Value* next = pending.pop_back_val();
    if (next == from) return true;
    if (next->producer() == nullptr || !seen.insert(next).second) continue;
    pending.append(next->producer()->operands().begin(), next->producer()->operands().end());
  }
  return false;
}

}  // namespace

bool Gradients::ReadOperands(const ast::CallExpr* expr, const Operand* piped,
                             llvm::SmallVectorImpl<Operand>* given) {
  if (piped != nullptr) given->push_back(*piped);
  for (const ast::Argument& argument : expr->arguments) {
    if (argument.is_named()) {
      report_.Error(Code::kUnknownAttribute, argument.name.range,
                    "'grad' has no attributes: grad(loss, x), or grad(y, x, dy)");
      return false;
    }
    given->push_back({expressions_.Evaluate(argument.value), argument.value->range});
  }
  for (const Operand& operand : *given)
    if (operand.datum.holds_poison()) return false;
  if (given->size() == 2 || given->size() == 3) return true;
  report_.Error(Code::kOperandCount, expr->callee->range,
                "'grad' takes a loss and the values to differentiate it by, got " +
                    llvm::Twine(given->size()) + (given->size() == 1 ? " input" : " inputs"));
  return false;
}

bool Gradients::CheckDerived(const Operand& y, bool has_cotangent) {
  const Value* output = y.datum.tensor();
  if (output == nullptr || !IsFloat(output->type().dtype) || output->type().is_sparse()) {
    report_.Error(Code::kBadGradient, y.range,
                  "a gradient is taken of a tensor of floats, got " +
                      (output == nullptr ? y.datum.Phrase() : output->type().ToString()));
    return false;
  }
  if (has_cotangent || output->type().is_scalar()) return true;
  report_
      .Error(Code::kBadGradient, y.range,
             "a gradient is taken of a scalar, got " + output->type().ToString())
      .Note("sum(…) or mean(…) makes one; grad(y, x, dy) takes the cotangent of y");
  return false;
}

bool Gradients::CheckDependence(const Operand& y, llvm::ArrayRef<Operand> xs) {
  Value* output = y.datum.tensor();
  for (const Operand& x : xs) {
    Value* value = x.datum.tensor();
    if (!DependsOn(output, value)) {
      ReportIndependence(y, x);
      return false;
    }
    const GradientFlow flow = FindGradientFlow(graph_, output, value);
    if (!CheckFlow(flow, x.range, at_.file->Text(y.range), "'" + at_.file->Text(x.range) + "'"))
      return false;
  }
  return true;
}

namespace {

/// The values to differentiate by: one value, or each item of a list, at its own position if that
/// is known.
llvm::SmallVector<Operand, 4> DerivedBy(const Operand& given, const ast::Expr* expr) {
  const std::vector<Datum>* items = given.datum.list();
  if (items == nullptr) return {given};
  llvm::SmallVector<Operand, 4> xs;
  for (const Datum& item : *items) xs.push_back({item, given.range});
  const auto* list = llvm::dyn_cast<ast::ListExpr>(expr);
  if (list == nullptr || list->items.size() != xs.size()) return xs;
  for (size_t i = 0; i < xs.size(); ++i) xs[i].range = list->items[i].value->range;
  return xs;
}

}  // namespace

CallResults Gradients::EvaluateGrad(const ast::CallExpr* expr, const Operand* piped,
                                    Targets targets) {
  CallResults results;
  if (at_.body != nullptr) {
    report_.NotYet(expr->callee->range, "'grad' in the body of a loop is");
    return results;
  }
  llvm::SmallVector<Operand, 3> given;
  if (!ReadOperands(expr, piped, &given)) return results;
  const Operand& y = given[0];
  if (!CheckDerived(y, /*has_cotangent=*/given.size() == 3)) return results;
  const bool is_list = given[1].datum.list() != nullptr;
  const llvm::SmallVector<Operand, 4> xs =
      DerivedBy(given[1], expr->arguments[piped == nullptr].value);
  if (xs.empty()) {
    report_.Error(Code::kBadGradient, given[1].range,
                  "there is nothing to differentiate by: the list is empty");
    return results;
  }
  bool ok = true;
  for (const Operand& x : xs) ok &= CheckDerivedBy(x);
  if (!ok) return results;
  // The backward pass has about as many calls as the computation of the loss.
  if (at_.IsRepeated() && !budget_.SpendCalls(graph_.ops().size(), expr->range)) return results;
  if (!CheckDependence(y, xs)) return results;
  std::optional<Operand> dy;
  if (given.size() == 3) {
    dy = given[2];
    const Type& type = y.datum.tensor()->type();
    Value* cotangent = literals_.AsTensor(dy->datum, dy->range, type.dtype, {});
    if (cotangent == nullptr ||
        !types_.CheckType(cotangent->type(), type, dy->range, "the cotangent"))
      return results;
    dy->datum = Datum(cotangent);
  }
  const bool is_named = targets.size() == xs.size() || (targets.size() == 1 && !is_list);
  Op* op = EmitGradient(y, dy, xs, expr->callee->range, is_named ? targets : Targets());
  if (op == nullptr) return results;
  if (!is_list || targets.size() > 1) return emitter_.ResultsOf(op);
  std::vector<Datum> items;
  for (Value* result : op->results()) items.push_back(Datum(result));
  if (at_.IsRepeated() && !budget_.MayGrow(0, items.size(), expr->range)) return results;
  results.all.push_back({"", budget_.MakeList(std::move(items), expr->range), expr->range});
  return results;
}

Op* Gradients::EmitGradient(const Operand& y, std::optional<Operand> dy, llvm::ArrayRef<Operand> xs,
                            SourceRange place, Targets targets) {
  const Type type = y.datum.tensor()->type();
  if (!dy) {
    // The cotangent of a loss is 1.
    Value* one = emitter_.EmitConstant(Constant::Scalar(type.dtype, 1), y.range, {});
    if (one == nullptr) return nullptr;
    dy = Operand{Datum(one), y.range};
  }
  Call call;
  call.def = callees_.FindOperator(sugar::kGradient);
  call.place = place;
  call.operands = {y, *dy};
  call.operands.append(xs.begin(), xs.end());
  call.attributes.push_back({sugar::kGradientCount.str(), static_cast<int64_t>(xs.size())});
  call.places.resize(1, {{}, place, nullptr, {}});
  return emitter_.Emit(call, targets);
}

bool Gradients::CheckFlow(const GradientFlow& flow, SourceRange place, const llvm::Twine& from,
                          const llvm::Twine& to) {
  if (flow.without_rule != nullptr) {
    Diagnostic& diagnostic =
        report_.Error(Code::kBadGradient, place,
                      "the backward pass from '" + from + "' to " + to + " goes through '" +
                          flow.without_rule->type() + "', which has no gradient");
    report_.NoteAtLocation(&diagnostic, flow.without_rule->location(), "here");
    diagnostic.Note("stop_gradient(…) before it treats its operand as a constant");
    return false;
  }
  if (llvm::is_contained(flow.reaches, true)) return true;
  Diagnostic& diagnostic =
      report_.Error(Code::kBadGradient, place, "'" + from + "' is not affected by " + to);
  if (flow.stop != nullptr) {
    report_.NoteAtLocation(&diagnostic, flow.stop->location(),
                           "'" + flow.stop->type() + "' returns " +
                               flow.stop->result()->type().ToString() +
                               ", which is piecewise constant");
  }
  return false;
}

bool Gradients::CheckDerivedBy(const Operand& x) {
  const Value* tensor = x.datum.tensor();
  if (tensor == nullptr) {
    report_.Error(Code::kOperandKind, x.range,
                  "a gradient is taken with respect to a tensor or a list of tensors, got " +
                      x.datum.Phrase());
    return false;
  }
  if (IsFloat(tensor->type().dtype) && !tensor->type().is_sparse()) return true;
  report_.Error(Code::kBadGradient, x.range,
                "a gradient is taken with respect to a dense or ragged tensor of floats, got " +
                    tensor->type().ToString());
  return false;
}

void Gradients::ReportIndependence(const Operand& y, const Operand& x) {
  Diagnostic& diagnostic = report_.Error(Code::kBadGradient, x.range,
                                         "'" + at_.file->Text(y.range) + "' does not depend on '" +
                                             at_.file->Text(x.range) + "' as it is here");
  // The name was assigned again after the loss had used it.
  const llvm::StringRef name = at_.file->Text(x.range);
  if (const auto last = at_.frame->assigned.find(name); last != at_.frame->assigned.end())
    diagnostic.NoteAt(at_.file, last->second, "'" + name.str() + "' was assigned here");
}

}  // namespace pdl
