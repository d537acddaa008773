// `if` and `for`: decided while compiling, or, on `training` and on symbols, by each Plan.
#include "frontend/elaborator.h"
#include "frontend/fold.h"
#include "frontend/sugar.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::Operator;

namespace {

bool IsRange(const ast::Expr* expr) {
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(expr);
  return chain != nullptr && (chain->operators[0].op == Operator::kRange ||
                              chain->operators[0].op == Operator::kRangeTo);
}

}  // namespace

void Elaborator::ElaborateBlock(const ast::Block& block) {
  const bool outer = std::exchange(in_block_, true);
  for (const ast::Statement* statement : block.statements) {
    if (frame_->returned) break;
    Elaborate(statement);
  }
  in_block_ = outer;
}

// ---------------------------------------------------------------------------------------------
// if

Value* Elaborator::EmitCheck(const DimCheck& check, SourceRange range) {
  Operator op = Operator::kGreaterEqual;
  if (check.relation == DimCheck::Relation::kEqual) op = Operator::kEqual;
  if (check.relation == DimCheck::Relation::kNotEqual) op = Operator::kNotEqual;
  Value* left = EmitSize(check.left, range, DType::kI64, {});
  Value* right = EmitSize(check.right, range, DType::kI64, {});
  if (left == nullptr || right == nullptr) return nullptr;
  return EvaluateInfix({op, range}, {Datum(left), range}, {Datum(right), range}, {}).tensor();
}

Datum Elaborator::EvaluateCondition(const ast::Expr* expr) {
  const Nesting nesting(this);
  if (!nesting.Fits(expr->range) || !SpendStep(expr->range)) return Datum();
  if (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(expr)) {
    return EvaluateCondition(parenthesis->inner);
  }
  if (const auto* prefix = llvm::dyn_cast<ast::PrefixExpr>(expr);
      prefix != nullptr && prefix->op == Operator::kNot) {
    const Datum operand = EvaluateCondition(prefix->operand);
    if (const auto* truth = operand.get<bool>()) return Datum(!*truth);
    if (operand.tensor() == nullptr) return Datum();
    Call call;
    call.def = FindOperator(sugar::OperatorFor(Operator::kNot));
    call.place = prefix->range;
    call.operands.push_back({operand, prefix->operand->range});
    Op* op = Emit(call, {});
    return op == nullptr ? Datum() : Datum(op->result());
  }
  if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(expr)) {
    const Operator op = chain->operators[0].op;
    if (op == Operator::kAnd || op == Operator::kOr) {
      // What decides is not followed further, as everywhere.
      const bool decides = op == Operator::kOr;
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
          left.datum = EvaluateInfix(chain->operators[0], left, Operand{datum, operand->range}, {});
          left.range = Span(left.range, operand->range);
        }
      }
      return left.datum.tensor() != nullptr ? left.datum : Datum(!decides);
    }
    const bool is_range = op == Operator::kIn && IsRange(chain->operands[1]);
    if (is_range || (op >= Operator::kEqual && op < Operator::kIn)) {
      const Datum left = EvaluateSize(chain->operands[0]);
      const bool is_size = left.is<Dim>() || (!is_range && !left.holds_tensor() &&
                                              EvaluateSize(chain->operands[1]).is<Dim>());
      if (left.dim() && is_size) {
        std::vector<DimCheck> checks;
        bool failed = false;
        if (!ReadCondition(expr, &checks, &failed)) return Datum();
        if (failed) return Datum(false);
        Operand all;
        for (const DimCheck& check : checks) {
          Value* truth = EmitCheck(check, expr->range);
          if (truth == nullptr) return Datum();
          const Operand next{Datum(truth), expr->range};
          all = all.datum.tensor() == nullptr
                    ? next
                    : Operand{EvaluateInfix({Operator::kAnd, expr->range}, all, next, {}),
                              expr->range};
        }
        return checks.empty() ? Datum(true) : all.datum;
      }
    }
  }
  const Datum datum = Evaluate(expr);
  if (datum.holds_poison() || datum.is<bool>()) return datum;
  Value* tensor = datum.tensor();
  if (tensor == nullptr) {
    Error(Code::kCondition, expr->range, "a condition is true or false, got " + datum.Phrase());
    return Datum();
  }
  if (!IsKnownToPlan(tensor)) {
    Error(Code::kCondition, expr->range,
          "'if' cannot depend on the elements of a tensor: say where(condition, a, b)")
        .Note(NoteOnOperand({datum, expr->range}));
    return Datum();
  }
  if (tensor->type().dtype != DType::kBool || !tensor->type().is_scalar()) {
    Error(Code::kCondition, expr->range, "a condition is bool[], got " + tensor->type().ToString());
    return Datum();
  }
  return datum;
}

void Elaborator::ElaborateIf(const ast::IfStatement* statement) {
  ElaborateBranches(statement->branches);
}

void Elaborator::ElaborateBranches(llvm::ArrayRef<ast::Branch> branches) {
  for (size_t i = 0; i < branches.size(); ++i) {
    const ast::Branch& branch = branches[i];
    if (branch.condition == nullptr) return ElaborateBlock(branch.block);
    frame_->base.clear();
    const Datum condition = EvaluateCondition(branch.condition);
    if (const auto* truth = condition.get<bool>()) {
      if (*truth) return ElaborateBlock(branch.block);
      continue;
    }
    if (Value* tensor = condition.tensor()) {
      return ElaborateBothSides(tensor, branch, branches.drop_front(i + 1));
    }
    for (const ast::Branch& silent : branches.drop_front(i))
      PoisonAssigned(silent.block.statements);
    return;
  }
}

struct Elaborator::BothSides {
  Value* condition;
  SourceRange place;
  struct Names {
    std::optional<Datum> before;
    std::array<std::optional<Datum>, 2> sides;
  };
  llvm::MapVector<llvm::StringRef, Names> names;
  struct States {
    Value* before = nullptr;
    std::array<Value*, 2> sides = {nullptr, nullptr};
  };
  llvm::MapVector<Value*, States> states;
  llvm::DenseMap<std::pair<Value*, Value*>, Value*> selected;
};

// Elaborates one side, notes what it set, and takes that back.
void Elaborator::ElaborateSide(BothSides* both, unsigned side,
                               llvm::function_ref<void()> elaborate) {
  Journal journal{frame_, {}, {}};
  Journal* const outer = std::exchange(journal_, &journal);
  elaborate();
  journal_ = outer;
  if (frame_->returned && !frame_->refused) {
    frame_->returned = false;
    Error(
        Code::kCondition, both->place,
        "whether this holds is known when the network runs, so it keeps both sides: assign a name "
        "on both, and 'return' it after the 'if'");
  }
  for (const auto& [name, old] : journal.names) {
    auto [entry, is_new] = both->names.insert({name, {}});
    if (is_new) entry->second.before = old;
  }
  for (const auto& [state, old] : journal.states) {
    auto [entry, is_new] = both->states.insert({state, {}});
    if (is_new) entry->second.before = old;
  }
  for (auto& [name, names] : both->names) {
    auto found = frame_->scope.find(name);
    names.sides[side] = found == frame_->scope.end() ? std::nullopt : std::optional(found->second);
  }
  for (auto& [state, values] : both->states) values.sides[side] = CurrentState(state);
  for (const auto& [name, old] : llvm::reverse(journal.names)) {
    if (old) {
      frame_->scope[name] = *old;
    } else {
      frame_->scope.erase(name);
    }
  }
  for (const auto& [state, old] : llvm::reverse(journal.states)) current_[state] = old;
}

Value* Elaborator::SelectSide(BothSides* both, Value* first, Value* second, llvm::StringRef name) {
  if (first == second) return first;
  Value*& value = both->selected[{first, second}];
  if (value != nullptr) return value;
  if (first->type().dtype != second->type().dtype ||
      first->type().rank() != second->type().rank() ||
      llvm::any_of(llvm::zip(first->type().dims, second->type().dims), [&](const auto& dims) {
        const DimCheck check = MakeCheck(Operator::kEqual, std::get<0>(dims), std::get<1>(dims));
        return known_.Decide(check) != Truth::kTrue;
      })) {
    Error(Code::kCondition, both->place,
          "'" + name + "' is " + first->type().ToString() + " on one side of this 'if' and " +
              second->type().ToString() + " on the other");
    return nullptr;
  }
  Call call;
  call.def = FindOperator(sugar::kPlanSelect);
  call.place = both->place;
  call.operands = {{Datum(both->condition), both->place},
                   {Datum(first), both->place},
                   {Datum(second), both->place}};
  const std::string full = FullName(name);
  Op* op = Emit(call, full);
  value = op == nullptr ? nullptr : op->result();
  return value;
}

Datum Elaborator::SelectDatum(BothSides* both, const Datum& first, const Datum& second,
                              llvm::StringRef name) {
  if (first.holds_poison() || second.holds_poison()) return Datum();
  // A comparison takes each list once.
  if (!Spend(std::min<uint64_t>(first.extent(), 1 << 16), both->place)) return Datum();
  if (IsSame(first, second)) return first;
  auto as_tensor = [&](const Datum& datum) {
    return datum.tensor() != nullptr || datum.is<Dim>() || datum.is_literal();
  };
  if (!as_tensor(first) || !as_tensor(second)) {
    Error(Code::kCondition, both->place,
          "'" + name + "' is " + first.Phrase() + " on one side of this 'if' and " +
              second.Phrase() + " on the other; a Plan can choose between tensors only");
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
  Value* a = AsTensor(first, both->place, dtype, {});
  Value* b = AsTensor(second, both->place, dtype, {});
  Value* value = a == nullptr || b == nullptr ? nullptr : SelectSide(both, a, b, name);
  return value == nullptr ? Datum() : Datum(value);
}

// Elaborates each side from the same names; what they set differently is selected by the Plan.
void Elaborator::ElaborateBothSides(Value* condition, const ast::Branch& then,
                                    llvm::ArrayRef<ast::Branch> otherwise) {
  const Nesting nesting(this);
  if (!nesting.Fits(then.condition->range)) return;
  BothSides both;
  both.condition = condition;
  both.place = then.condition->range;
  ElaborateSide(&both, 0, [&] { ElaborateBlock(then.block); });
  ElaborateSide(&both, 1, [&] { ElaborateBranches(otherwise); });
  for (auto& [name, names] : both.names) {
    // A side that came before the name was first set has what was there before.
    for (std::optional<Datum>& side : names.sides)
      if (!side) side = names.before;
    const auto& [first, second] = names.sides;
    if (first && second) {
      Assign(name, SelectDatum(&both, *first, *second, name));
    } else {
      frame_->one_sided[name] = both.place;
    }
  }
  for (auto& [state, values] : both.states) {
    for (Value*& side : values.sides)
      if (side == nullptr) side = values.before;
    Value* value = SelectSide(&both, values.sides[0], values.sides[1], state->name());
    if (value == nullptr) continue;
    if (journal_ != nullptr) journal_->states.insert({state, values.before});
    current_[state] = value;
    graph_.AddUpdate(state, value);
  }
}

// ---------------------------------------------------------------------------------------------
// for

void Elaborator::ElaborateFor(const ast::ForStatement* statement) {
  const Names names = statement->names;
  const ast::Expr* over = statement->over;
  while (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(over)) {
    over = parenthesis->inner;
  }
  int64_t first = 0, count = 0;
  Datum list;
  if (IsRange(over)) {
    const auto* range = llvm::cast<ast::ChainExpr>(over);
    std::optional<int64_t> ends[2];
    for (int i = 0; i < 2; ++i) {
      const Datum end = EvaluateSize(range->operands[i]);
      if (const auto* number = end.get<int64_t>()) {
        ends[i] = *number;
      } else if (!end.holds_poison()) {
        Error(Code::kUnknownSize, range->operands[i]->range,
              "a loop is expanded while compiling: its ends are ints, got " + end.Phrase());
      }
    }
    if (ends[0] && ends[1]) {
      if (names.size() == 2) {
        Error(Code::kResultCount, names[1].range, "a range gives one name its value");
        return PoisonAssigned(statement);
      }
      first = *ends[0];
      const bool takes_end = range->operators[0].op == Operator::kRangeTo;
      const Dim rounds = Dim(*ends[1]) - Dim(first) + (takes_end ? 1 : 0);
      count = rounds.is_valid() ? std::max<int64_t>(rounds.constant(), 0) : INT64_MAX;
    } else {
      return PoisonAssigned(statement);
    }
  } else {
    const auto* call = llvm::dyn_cast<ast::CallExpr>(over);
    if (call != nullptr && file_->Text(call->callee->range) == "range") {
      Error(Code::kOperandKind, over->range,
            "'for' goes over a range such as 0..n or a list; 'range' gives a tensor");
      return PoisonAssigned(statement);
    }
    list = Evaluate(over);
    if (list.list() == nullptr) {
      if (!list.is_poison()) {
        Error(Code::kOperandKind, over->range,
              "'for' goes over a range such as 0..n or a list, got " + list.Phrase());
      }
      return PoisonAssigned(statement);
    }
    count = static_cast<int64_t>(list.list()->size());
  }
  const auto most = static_cast<int64_t>(std::min<uint64_t>(request_.limits.steps, INT64_MAX));
  if (count > most) {
    Error(Code::kTextTooLong, over->range,
          "a loop is expanded while compiling: at most " + llvm::Twine(most) + " rounds");
    return PoisonAssigned(statement);
  }

  const TextFrame::Repeat* repeat = nullptr;
  for (const TextFrame::Repeat& candidate : frame_->repeats)
    if (list.list() != nullptr && candidate.list.list() == list.list()) repeat = &candidate;
  const std::string counts = frame_->counts;
  frame_->loops.push_back({over->range, 0, count});
  if (open_loops_++ == 0) {
    for (Meter* meter : {&steps_, &calls_, &layer_calls_}) meter->before_loops = meter->used;
  }
  for (int64_t i = 0; i < count && !frame_->returned; ++i) {
    frame_->loops.back().round = i;
    if (stopped_ || !Spend(1, over->range)) break;
    if (count > 1) frame_->counts = counts + "." + std::to_string(i);
    if (names.size() == 2) Assign(names[0].text, Datum(i));
    Assign(names.back().text,
           list.list() == nullptr ? Datum(first + i) : (*list.list())[static_cast<size_t>(i)]);
    if (repeat != nullptr) {
      for (const auto& [symbol, value] : repeat->symbols[static_cast<size_t>(i)])
        frame_->symbols[symbol] = {value, names.back().range};
      frame_->any_dims = repeat->any_dims[static_cast<size_t>(i)];
    }
    ElaborateBlock(statement->body);
  }
  if (repeat != nullptr && count > 0) {
    for (const auto& [symbol, value] : repeat->symbols.back()) frame_->symbols.erase(symbol);
    if (count > 1) frame_->any_dims.reset();
  }
  frame_->loops.pop_back();
  --open_loops_;
  frame_->counts = counts;
}

}  // namespace pdl
