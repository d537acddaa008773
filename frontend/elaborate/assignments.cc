#include "frontend/elaborate/assignments.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/layer_copies.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/run_checks.h"
#include "frontend/elaborate/size_conditions.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/elaborate/type_reader.h"
#include "frontend/elaborate/unused_names.h"
#include "frontend/format/format_tokens.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

bool Assignments::CheckTargets(llvm::ArrayRef<ast::Identifier> targets) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (at_.frame->base.empty() && targets[i].text != "_") at_.frame->base = targets[i].text.str();
    if (!CheckNoPath(targets[i])) return false;
    for (size_t j = 0; j < i; ++j) {
      if (targets[i].text != targets[j].text || targets[i].text == "_") continue;
      report_
          .Error(Code::kRedefined, targets[i].range, "'" + targets[i].text + "' appears here twice")
          .Underline(targets[j].range);
      return false;
    }
  }
  return true;
}

bool Assignments::CheckNoPath(const ast::Identifier& target) {
  const llvm::StringRef layer = target.text.split('.').first;
  if (layer.size() == target.text.size()) return true;
  // Flat source has names with dots, and declares the variables that calls in other source create.
  if (!at_.frame->instances.contains(layer) &&
      !values_.owning_paths.contains(at_.frame->FullName(layer)))
    return true;
  Diagnostic& diagnostic = report_.Error(
      Code::kBadTarget, target.range,
      "'" + target.text + "' belongs to the layer call '" + layer + "' and cannot be assigned");
  diagnostic.Note(
      "an initial value is given by the call: param_attr={init=...}; stored values by: load "
      "\"file.safetensors\" into " +
      layer.str());
  return false;
}

void Assignments::ElaborateAssign(const ast::AssignStatement* statement) {
  AssignValue(statement);
  unused_.DefineAll(statement->targets);
  // Only now: the right-hand side still refers to the old values.
  for (const ast::Identifier& target : statement->targets) {
    at_.frame->assigned[target.text] = statement->range;
    if (at_.observer == nullptr) continue;
    const auto value = at_.frame->scope.find(target.text);
    if (value != at_.frame->scope.end()) at_.Observe(target.range, value->second);
  }
}

void Assignments::AssignValue(const ast::AssignStatement* statement) {
  const llvm::ArrayRef<ast::Identifier> targets = statement->targets;
  if (!CheckTargets(targets)) return names_.Poison(targets);
  std::optional<Type> declared;
  if (statement->type != nullptr) {
    declared = types_.ReadType(statement->type, /*introduces=*/false);
    if (!declared) {
      expressions_.Evaluate(statement->value);
      return names_.Poison(targets);
    }
  }
  const llvm::SmallVector<std::string, 1> names = names_.FullNames(targets);
  const CallResults results = expressions_.EvaluateResults(statement->value, names);
  Datum datum = expressions_.UseFirst(results, statement->value->range);
  if (declared && !datum.holds_poison()) {
    Value* value = literals_.AsTensor(datum, statement->value->range, declared->dtype, names);
    if (value != nullptr)
      value = run_checks_.InDeclaredRange(value, *declared, statement->value->range, names);
    if (value == nullptr || !types_.CheckType(value->type(), *declared, statement->value->range,
                                              "'" + targets.front().text + "'")) {
      return names_.Poison(targets);
    }
    // Of a smaller range, too: the declared one determines the sizes of tables.
    value = run_checks_.WithRange(value, *declared, statement->value->range, names);
    if (value == nullptr) return names_.Poison(targets);
    datum = Datum(value);
  }
  Value* first = datum.tensor();
  if (targets.empty()) {
    if (first != nullptr) last_.value = first->name();
    last_.results = results.all;
    return;
  }
  if (datum.is_poison()) return names_.Poison(targets);
  if (first != nullptr && !statement->doc.empty() && first->comment().empty()) {
    graph_.SetComment(first, statement->doc.str());
  }
  NoteResults(statement, results);
  if (targets.size() == 1) {
    if (targets[0].text != "_") names_.Assign(targets[0].text, std::move(datum));
  } else if (!AssignAll(targets, results.all)) {
    return names_.Poison(targets);
  }
  if (first != nullptr) last_.value = first->name();
}

void Assignments::NoteResults(const ast::AssignStatement* statement, const CallResults& results) {
  const llvm::StringRef name = statement->targets.front().text;
  at_.frame->results_of.erase(name);
  if (results.all.size() < 2) return;
  const ast::Expr* value = ast::WithoutParentheses(statement->value);
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(value);
  if (chain != nullptr && chain->operators[0].op == ast::Operator::kPipe)
    value = ast::WithoutParentheses(chain->operands.back());
  const auto* call = llvm::dyn_cast<ast::CallExpr>(value);
  if (call == nullptr) return;
  TextFrame::Results& noted = at_.frame->results_of[name];
  noted.callee = at_.file->Text(call->callee->range);
  for (const CallResult& result : results.all) noted.names.push_back(result.name);
}

bool Assignments::AssignAll(llvm::ArrayRef<ast::Identifier> targets,
                            llvm::ArrayRef<CallResult> results) {
  const size_t count = results.size();
  if (count < targets.size()) {
    report_.Error(
        Code::kResultCount, targets[count].range,
        "there " +
            llvm::Twine(count == 1 ? "is 1 result" : "are " + std::to_string(count) + " results") +
            " for " + llvm::Twine(targets.size()) + " names");
    return false;
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].text == "_") continue;
    names_.Assign(targets[i].text,
                  i == 0 ? results[i].datum : expressions_.Use(results[i], targets[i].range));
  }
  return true;
}

void Assignments::ElaborateUpdate(const ast::UpdateStatement* statement) {
  const llvm::StringRef name = statement->name.text;
  at_.frame->base = name.str();
  if (at_.body != nullptr) {
    report_.Error(
        Code::kBody, statement->name.range,
        "the body of a loop cannot update a state; carry '" + name + "' from step to step");
    return names_.Poison(statement->name);
  }
  if (at_.optimizer != nullptr) {
    report_.Error(
        Code::kMisplaced, statement->name.range,
        "the arguments of an optimizer belong to training only and cannot update a state");
    return names_.Poison(statement->name);
  }
  if (const std::string path = copies_.PathOf(name); !path.empty())
    return UpdateCopy(statement, path);
  if (copies_.InstanceNamed(name) != nullptr) {
    report_
        .Error(Code::kNoState, statement->name.range,
               "'" + name + "' is a layer, whose parameters are not states")
        .Note("a copy has states: state target = copy(" + name.str() + ")");
    return;
  }
  const Datum datum = expressions_.Evaluate(statement->value, at_.frame->FullName(name));
  auto known = at_.frame->states.find(name);
  Value* state = known != at_.frame->states.end() ? known->second
                                                  : graph_.FindValue(at_.frame->FullName(name));
  if (state == nullptr || state->kind() != ValueKind::kState) {
    auto found = at_.frame->scope.find(name);
    if (found == at_.frame->scope.end() || !found->second.is_poison()) {
      std::vector<llvm::StringRef> states;
      for (const auto& entry : at_.frame->states) states.push_back(entry.first());
      llvm::sort(states);
      const bool is_parameter = state != nullptr && state->kind() == ValueKind::kParameter;
      report_.Error(Code::kNoState, statement->name.range,
                    is_parameter
                        ? "'" + name + "' is a parameter, and only states have updates"
                        : "no state is called '" + name + "'" + report_.DidYouMean(name, states));
    }
    return names_.Poison(statement->name);
  }
  Value* value = UpdateState(state, datum, statement->value->range, at_.frame->FullName(name),
                             "the new value of '" + name + "'");
  if (value == nullptr) return names_.Poison(statement->name);
  at_.Observe(statement->name.range, Datum(value));
  names_.Assign(name, Datum(value));
}

Value* Assignments::UpdateState(Value* state, const Datum& datum, SourceRange range,
                                const std::string& full_name, const llvm::Twine& subject) {
  Value* value = literals_.AsTensor(datum, range, state->type().dtype, full_name);
  if (value != nullptr) value = run_checks_.InDeclaredRange(value, state->type(), range, full_name);
  if (value == nullptr || !types_.CheckType(value->type(), state->type(), range, subject))
    return nullptr;
  SetUpdate(state, value);
  if (at_.journal != nullptr) at_.journal->states.insert({state, names_.CurrentState(state)});
  values_.current[state] = value;
  return value;
}

void Assignments::UpdateCopy(const ast::UpdateStatement* statement, const std::string& path) {
  const llvm::StringRef layer = statement->name.text;
  const std::string base = at_.frame->base;
  for (Value* state : copies_.ParametersOf(path, statement->name.range)) {
    const LayerMember member{at_.frame, layer, state->name().substr(path.size() + 1)};
    at_.frame->base = base;
    at_.member = &member;
    const Datum datum = expressions_.Evaluate(statement->value, state->name());
    at_.member = nullptr;
    const bool is_updated =
        !datum.holds_poison() &&
        UpdateState(state, datum, statement->value->range, state->name(),
                    "the new value of '" + layer + "." + member.name + "'") != nullptr;
    // The other parameters would have the same error.
    if (!is_updated) return;
  }
}

void Assignments::SetUpdate(Value* state, Value* value) {
  if (at_.step_updates == nullptr) return graph_.AddUpdate(state, value);
  auto is_it = [&](const GraphUpdate& update) { return update.state == state; };
  auto known = llvm::find_if(*at_.step_updates, is_it);
  if (known == at_.step_updates->end()) {
    at_.step_updates->push_back({state, value});
  } else {
    known->value = value;
  }
}

void Assignments::ElaborateAssert(const ast::AssertStatement* statement) {
  const std::string base = std::exchange(at_.frame->base, "");
  CheckAssertion(statement);
  at_.frame->base = base;
}

void Assignments::CheckAssertion(const ast::AssertStatement* statement) {
  std::vector<DimCheck> checks;
  std::vector<Operand> values;
  bool failed = false;
  if (!conditions_.ReadWithValues(statement->condition, &checks, &values, &failed)) return;
  const llvm::StringRef message = statement->message.value;
  std::optional<std::string> note;
  for (const DimCheck& check : checks)
    if (!note) note = constraints_.NoteIfOnlyEmpty(check);
  if (!message.empty())
    for (DimCheck& check : checks) check.message = message.str();
  if (!failed && !note && !checks.empty())
    failed =
        !constraints_.AddAll(std::move(checks), at_.AddLocation(graph_, statement->range.begin));
  if (failed || note) {
    Diagnostic& diagnostic =
        report_.Error(Code::kAssertion, statement->condition->range,
                      message.empty() ? llvm::Twine("this does not hold") : llvm::Twine(message));
    if (note) diagnostic.Note(*std::move(note));
    if (at_.frame->callee.empty()) return;
    at_.frame->returned = at_.frame->assert_failed = true;
    return;
  }
  for (const Operand& value : values) {
    run_checks_.Assert(value, message.empty()
                                  ? "'" + OneLine(at_.file->Text(value.range)) + "' does not hold"
                                  : message.str());
  }
}

}  // namespace pdl
