#include "frontend/elaborate/branches.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/fold.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/operator_expressions.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/run_checks.h"
#include "frontend/elaborate/size_conditions.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/elaborate/statements.h"
#include "frontend/elaborate/sugar.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::Operator;

struct Branches::BothSides {
  Value* condition;
  SourceRange place;
  template <class T>
  struct Names {
    std::optional<T> before;
    std::array<std::optional<T>, 2> sides;

    /// A branch elaborated before the name was first set has the previous value.
    void Complete() {
      for (std::optional<T>& side : sides)
        if (!side) side = before;
    }
  };
  llvm::MapVector<llvm::StringRef, Names<Datum>> names;
  llvm::MapVector<llvm::StringRef, Names<LayerName>> layers;
  struct States {
    Value* before = nullptr;
    std::array<Value*, 2> sides = {nullptr, nullptr};
  };
  llvm::MapVector<Value*, States> states;
  llvm::DenseMap<std::pair<Value*, Value*>, Value*> selected;
  std::array<std::vector<Journal::Assertion>, 2> assertions;
};

/// Whether two branches leave a name with one layer: also if both make a function such as relu().
static bool IsSameLayer(const LayerName& a, const LayerName& b) {
  if (a.differs || b.differs || a.layer == nullptr || b.layer == nullptr) return false;
  const auto is_plain = [](const Function& function) {
    return function.callee.op != nullptr && function.call.attributes.empty() &&
           function.call.operands.empty() && function.call.body == nullptr;
  };
  return a.layer == b.layer ||
         (is_plain(*a.layer) && is_plain(*b.layer) && a.layer->callee.op == b.layer->callee.op);
}

void Branches::ElaborateBranches(llvm::ArrayRef<ast::Branch> branches) {
  for (size_t i = 0; i < branches.size(); ++i) {
    const ast::Branch& branch = branches[i];
    if (branch.condition == nullptr) return statements_.ElaborateBlock(branch.block);
    at_.frame->base.clear();
    const Datum condition = EvaluateCondition(branch.condition);
    if (const auto* truth = condition.get<bool>()) {
      if (*truth) return statements_.ElaborateBlock(branch.block);
      continue;
    }
    if (Value* tensor = condition.tensor()) {
      return ElaborateBothSides(tensor, branch, branches.drop_front(i + 1));
    }
    for (const ast::Branch& silent : branches.drop_front(i))
      names_.PoisonAssigned(silent.block.statements);
    return;
  }
}

Datum Branches::EvaluateCondition(const ast::Expr* expr) {
  const Budget::Nesting nesting(budget_);
  if (!nesting.Fits(expr->range) || !budget_.SpendStep(expr->range)) return Datum();
  if (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(expr)) {
    return EvaluateCondition(parenthesis->inner);
  }
  if (const auto* prefix = llvm::dyn_cast<ast::PrefixExpr>(expr);
      prefix != nullptr && prefix->op == Operator::kNot) {
    return EvaluateNot(prefix);
  }
  if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(expr)) {
    const Operator op = chain->operators[0].op;
    if (op == Operator::kAnd || op == Operator::kOr) return EvaluateAndOr(chain);
    if (std::optional<Datum> truth = EvaluateRelation(chain)) {
      if (truth->tensor() == nullptr || IsKnownToPlan(truth->tensor())) return *truth;
      report_
          .Error(Code::kCondition, expr->range,
                 "'if' cannot depend on a size that is data-dependent, or is the number of rows "
                 "in a step of a loop")
          .Note(
              "where(condition, a, b) can; cast(size, to=i64) makes a size a tensor, which can be "
              "compared");
      return Datum();
    }
  }
  const Datum datum = expressions_.Evaluate(expr);
  return datum.holds_poison() || datum.is<bool>() ? datum : CheckCondition(datum, expr->range);
}

Datum Branches::CheckCondition(const Datum& datum, SourceRange range) {
  Value* tensor = datum.tensor();
  if (tensor == nullptr) {
    report_.Error(Code::kCondition, range, "a condition is true or false, got " + datum.Phrase());
    return Datum();
  }
  if (!IsKnownToPlan(tensor)) {
    report_
        .Error(Code::kCondition, range,
               "'if' cannot depend on the elements of a tensor: write where(condition, a, b)")
        .Note(report_.NoteOnOperand({datum, range}));
    return Datum();
  }
  if (tensor->type().dtype != DType::kBool || !tensor->type().is_scalar()) {
    report_.Error(Code::kCondition, range,
                  "a condition is bool[], got " + tensor->type().ToString());
    return Datum();
  }
  return datum;
}

Datum Branches::EvaluateNot(const ast::PrefixExpr* prefix) {
  const Datum operand = EvaluateCondition(prefix->operand);
  if (const auto* truth = operand.get<bool>()) return Datum(!*truth);
  if (operand.tensor() == nullptr) return Datum();
  return operators_.EvaluateNot({operand, prefix->operand->range}, prefix->range);
}

Datum Branches::EvaluateAndOr(const ast::ChainExpr* chain) {
  // Short-circuits: operands after the deciding one are not evaluated.
  const bool decides = chain->operators[0].op == Operator::kOr;
  Operand left;
  for (const ast::Expr* operand : chain->operands) {
    const Datum datum = EvaluateCondition(operand);
    if (datum.is_poison()) return Datum();
    if (const auto* truth = datum.get<bool>()) {
      if (*truth == decides) return Datum(decides);
      continue;
    }
    if (left.datum.tensor() == nullptr) {
      left = {datum, operand->range};
    } else {
      left.datum =
          operators_.EvaluateInfix(chain->operators[0], left, Operand{datum, operand->range}, {});
      left.range = Span(left.range, operand->range);
    }
  }
  return left.datum.tensor() != nullptr ? left.datum : Datum(!decides);
}

std::optional<Datum> Branches::EvaluateRelation(const ast::ChainExpr* chain) {
  const Operator op = chain->operators[0].op;
  const bool is_range = op == Operator::kIn && ast::AsRange(chain->operands[1]) != nullptr;
  if (!is_range && (op < Operator::kEqual || op >= Operator::kIn)) return std::nullopt;
  const Datum left = expressions_.EvaluateSize(chain->operands[0]);
  const bool is_size = left.is<Dim>() || (!is_range && !left.holds_tensor() &&
                                          expressions_.EvaluateSize(chain->operands[1]).is<Dim>());
  if (!left.dim() || !is_size) return std::nullopt;
  std::vector<DimCheck> checks;
  bool failed = false;
  if (!conditions_.Read(chain, &checks, &failed)) return Datum();
  if (failed) return Datum(false);
  return conditions_.Conjunction(checks, {}, chain->range).datum;
}

void Branches::ElaborateBothSides(Value* condition, const ast::Branch& then,
                                  llvm::ArrayRef<ast::Branch> otherwise) {
  const Budget::Nesting nesting(budget_);
  if (!nesting.Fits(then.condition->range)) return;
  BothSides both;
  both.condition = condition;
  both.place = then.condition->range;
  ElaborateSide(&both, 0, [&] { statements_.ElaborateBlock(then.block); });
  ElaborateSide(&both, 1, [&] { ElaborateBranches(otherwise); });
  const Operand chosen{Datum(condition), both.place};
  for (unsigned side : {0u, 1u}) run_checks_.AssertBranch(chosen, side, both.assertions[side]);
  for (auto& [name, names] : both.names) {
    names.Complete();
    const auto& [first, second] = names.sides;
    if (first && second) {
      names_.Assign(name, SelectDatum(&both, *first, *second, name));
    } else {
      at_.frame->one_sided[name] = both.place;
    }
  }
  for (auto& [name, layers] : both.layers) {
    layers.Complete();
    const auto& [first, second] = layers.sides;
    const bool is_broken = (first && first->is_broken()) || (second && second->is_broken());
    if (is_broken) {
      names_.AssignLayer(name, {});
    } else if (first && second && IsSameLayer(*first, *second)) {
      names_.AssignLayer(name, *first);
    } else {
      names_.AssignLayer(name, {nullptr, LayerName::Difference{both.place, !first || !second}});
    }
  }
  for (auto& [state, values] : both.states) {
    for (Value*& side : values.sides)
      if (side == nullptr) side = values.before;
    Value* value = SelectSide(&both, values.sides[0], values.sides[1], state->name());
    if (value == nullptr) continue;
    if (at_.journal != nullptr) at_.journal->states.insert({state, values.before});
    values_.current[state] = value;
    graph_.AddUpdate(state, value);
  }
}

void Branches::ElaborateSide(BothSides* both, unsigned side, llvm::function_ref<void()> elaborate) {
  Journal journal{at_.frame, {}, {}};
  Journal* const outer = std::exchange(at_.journal, &journal);
  elaborate();
  at_.journal = outer;
  both->assertions[side] = std::move(journal.assertions);
  if (at_.frame->returned && !at_.frame->assert_failed) {
    at_.frame->returned = false;
    report_.Error(Code::kCondition, both->place,
                  "whether this holds is only known when the network runs, so both branches are "
                  "kept: assign a name "
                  "in both, and 'return' it after the 'if'");
  }
  for (const auto& [name, old] : journal.names) {
    auto [entry, is_new] = both->names.insert({name, {}});
    if (is_new) entry->second.before = old;
  }
  for (const auto& [state, old] : journal.states) {
    auto [entry, is_new] = both->states.insert({state, {}});
    if (is_new) entry->second.before = old;
  }
  for (const auto& [name, old] : journal.layers) {
    auto [entry, is_new] = both->layers.insert({name, {}});
    if (is_new) entry->second.before = old;
  }
  for (auto& [name, names] : both->names) {
    auto found = at_.frame->scope.find(name);
    names.sides[side] =
        found == at_.frame->scope.end() ? std::nullopt : std::optional(found->second);
  }
  for (auto& [name, names] : both->layers) names.sides[side] = names_.FindLayer(name);
  for (auto& [state, values] : both->states) values.sides[side] = names_.CurrentState(state);
  for (const auto& [name, old] : llvm::reverse(journal.names)) {
    if (old) {
      at_.frame->scope[name] = *old;
    } else {
      at_.frame->scope.erase(name);
    }
  }
  for (const auto& [name, old] : llvm::reverse(journal.layers)) names_.SetLayer(name, old);
  for (const auto& [state, old] : llvm::reverse(journal.states)) values_.current[state] = old;
}

Value* Branches::SelectSide(BothSides* both, Value* first, Value* second, llvm::StringRef name) {
  if (first == second) return first;
  Value*& value = both->selected[{first, second}];
  if (value != nullptr) return value;
  if (first->type().dtype != second->type().dtype ||
      first->type().rank() != second->type().rank() ||
      llvm::any_of(llvm::zip(first->type().dims, second->type().dims), [&](const auto& dims) {
        const DimCheck check = MakeCheck(Operator::kEqual, std::get<0>(dims), std::get<1>(dims));
        return constraints_.Decide(check) != Truth::kTrue;
      })) {
    report_.Error(Code::kCondition, both->place,
                  "'" + name + "' is " + first->type().ToString() +
                      " in one branch of this 'if' and " + second->type().ToString() +
                      " in the other");
    return nullptr;
  }
  Call call;
  call.def = callees_.FindOperator(sugar::kPlanSelect);
  call.place = both->place;
  call.operands = {{Datum(both->condition), both->place},
                   {Datum(first), both->place},
                   {Datum(second), both->place}};
  const std::string full = at_.frame->FullName(name);
  Op* op = emitter_.Emit(call, full);
  value = op == nullptr ? nullptr : op->result();
  return value;
}

Datum Branches::SelectDatum(BothSides* both, const Datum& first, const Datum& second,
                            llvm::StringRef name) {
  if (first.holds_poison() || second.holds_poison()) return Datum();
  // A comparison visits each list once.
  if (!budget_.Spend(std::min<uint64_t>(first.extent(), 1 << 16), both->place)) return Datum();
  if (IsSame(first, second)) return first;
  auto as_tensor = [&](const Datum& datum) {
    return datum.tensor() != nullptr || datum.is<Dim>() || datum.is_literal();
  };
  if (!as_tensor(first) || !as_tensor(second)) {
    const std::string one = first.Phrase(), other = second.Phrase();
    report_.Error(
        Code::kCondition, both->place,
        "'" + name + "' is " +
            (one == other ? "another " + llvm::StringRef(one).split(' ').second.str() +
                                " in each branch of this 'if'"
                          : one + " in one branch of this 'if' and " + other + " in the other") +
            "; only between tensors can be chosen when the network runs");
    return Datum();
  }
  std::optional<DType> dtype;
  if (first.tensor() != nullptr) dtype = first.tensor()->type().dtype;
  if (!dtype && second.tensor() != nullptr) dtype = second.tensor()->type().dtype;
  if (!dtype) {
    const bool real = (!first.is<Dim>() && NaturalDType(first) != DType::kI64) ||
                      (!second.is<Dim>() && NaturalDType(second) != DType::kI64);
    dtype = real && !first.is<Dim>() ? NaturalDType(first) : DType::kI64;
  }
  Value* a = literals_.AsTensor(first, both->place, dtype, {});
  Value* b = literals_.AsTensor(second, both->place, dtype, {});
  Value* value = a == nullptr || b == nullptr ? nullptr : SelectSide(both, a, b, name);
  return value == nullptr ? Datum() : Datum(value);
}

}  // namespace pdl
