#include "frontend/elaborator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

using ast::StatementKind;

void Elaborator::Elaborate(const ast::Statement* statement) {
  const SourceRange head{statement->range.begin, statement->range.begin};
  const Nesting nesting(this);
  if (!nesting.Fits(head) || !SpendStep(head)) return;
  auto keyword = [&](size_t length) {
    return SourceRange{head.begin, head.begin + static_cast<uint32_t>(length)};
  };
  frame_->base.clear();
  last_value_.clear();
  last_results_.clear();
  const bool is_layer = frame_->caller != nullptr && frame_->arguments == nullptr;
  if (in_test_ && frame_->caller == nullptr) {
    switch (statement->kind) {
      case StatementKind::kAssign:
      case StatementKind::kAssert:
      case StatementKind::kIf:
      case StatementKind::kFor:
      case StatementKind::kFeed:
      case StatementKind::kExpect:
      case StatementKind::kLayerInstance:
      case StatementKind::kBroken:
        break;
      default: {
        const llvm::StringRef word = file_->Text(statement->range).take_while(llvm::isAlpha);
        Error(Code::kMisplaced, keyword(word.size()), "'" + word + "' does not stand in a test");
        return PoisonAssigned(statement);
      }
    }
  }
  const bool is_of_file = statement->kind == StatementKind::kAttr ||
                          statement->kind == StatementKind::kInput ||
                          statement->kind == StatementKind::kOutput;
  if (is_of_file && (is_layer || in_block_)) {
    const llvm::StringRef word = file_->Text(statement->range).take_while(llvm::isAlpha);
    Error(
        Code::kMisplaced, keyword(word.size()),
        "'" + word + "' stands " + (is_layer ? "in a file, not in a layer" : "outside of blocks"));
    return PoisonAssigned(statement);
  }
  switch (statement->kind) {
    case StatementKind::kAttr:
      return ElaborateAttr(llvm::cast<ast::AttrStatement>(statement));
    case StatementKind::kInput:
      return ElaborateInput(llvm::cast<ast::InputStatement>(statement));
    case StatementKind::kParam:
    case StatementKind::kState:
      return ElaborateVariable(llvm::cast<ast::VariableStatement>(statement));
    case StatementKind::kUpdate:
      return ElaborateUpdate(llvm::cast<ast::UpdateStatement>(statement));
    case StatementKind::kOutput:
      return ElaborateOutput(llvm::cast<ast::OutputStatement>(statement));
    case StatementKind::kAssign:
      return ElaborateAssign(llvm::cast<ast::AssignStatement>(statement));
    case StatementKind::kAssert:
      return ElaborateAssert(llvm::cast<ast::AssertStatement>(statement));
    case StatementKind::kBroken:
      for (const ast::Identifier& name : llvm::cast<ast::BrokenStatement>(statement)->names) {
        PoisonUndefined(name);
        frame_->module->broken_names.try_emplace(name.text, name.range);
      }
      return;
    case StatementKind::kLayer:
      // The layers at the top of a file are known before its first statement.
      if (is_layer || !frame_->loops.empty() || in_block_) {
        Error(Code::kMisplaced, keyword(5), "a layer is defined at the top of a file");
        const ast::Identifier& name = llvm::cast<ast::LayerStatement>(statement)->name;
        frame_->module->broken_names.try_emplace(name.text, name.range);
      }
      return;
    case StatementKind::kLayerInstance:
      return ElaborateInstance(llvm::cast<ast::LayerInstanceStatement>(statement));
    case StatementKind::kImport:
      if (is_layer || !frame_->loops.empty() || in_block_) {
        Error(Code::kMisplaced, keyword(6), "an import stands at the top of a file");
      }
      return;
    case StatementKind::kLoad:
      if (frame_->caller != nullptr && frame_->arguments == nullptr) {
        Error(Code::kMisplaced, keyword(4), "'load' stands in a file, not in a layer");
        return;
      }
      loads_.push_back({llvm::cast<ast::LoadStatement>(statement), frame_->module, frame_->path});
      return;
    case StatementKind::kMinimize:
      if (frame_->caller != nullptr) {
        // A file that is called by another is not trained by itself.
        if (frame_->arguments == nullptr) {
          Error(Code::kMisplaced, keyword(8), "'minimize' stands in a file, not in a layer");
        }
        return;
      }
      return ElaborateMinimize(llvm::cast<ast::MinimizeStatement>(statement));
    case StatementKind::kIf:
      return ElaborateIf(llvm::cast<ast::IfStatement>(statement));
    case StatementKind::kFor:
      return ElaborateFor(llvm::cast<ast::ForStatement>(statement));
    case StatementKind::kTest:
      if (frame_->caller != nullptr && frame_->arguments == nullptr) {
        Error(Code::kMisplaced, keyword(4), "a test stands at the top of a file");
      }
      return;
    case StatementKind::kFeed:
    case StatementKind::kExpect:
      if (in_test_ && frame_->caller == nullptr) {
        if (const auto* expect = llvm::dyn_cast<ast::ExpectStatement>(statement))
          return ElaborateExpect(expect);
        Error(Code::kMisplaced, keyword(4), "'feed' stands directly in a test, in no block");
        return;
      }
      Error(Code::kMisplaced, keyword(statement->kind == StatementKind::kFeed ? 4 : 6),
            llvm::Twine("'") + (statement->kind == StatementKind::kFeed ? "feed" : "expect") +
                "' stands inside a test");
      return;
    case StatementKind::kReturn:
      if (frame_->caller != nullptr && frame_->arguments == nullptr) {
        return ElaborateReturn(llvm::cast<ast::OutputStatement>(statement));
      }
      Error(Code::kMisplaced, keyword(6), "'return' stands inside a layer; a file says 'output'");
      return;
  }
}

void Elaborator::SetUpdate(Value* state, Value* value) {
  if (step_updates_ == nullptr) return graph_.AddUpdate(state, value);
  auto is_it = [&](const GraphUpdate& update) { return update.state == state; };
  auto known = llvm::find_if(*step_updates_, is_it);
  if (known == step_updates_->end()) {
    step_updates_->push_back({state, value});
  } else {
    known->value = value;
  }
}

void Elaborator::ElaborateUpdate(const ast::UpdateStatement* statement) {
  const llvm::StringRef name = statement->name.text;
  frame_->base = name.str();
  if (body_ != nullptr) {
    Error(Code::kBody, statement->name.range,
          "the body of a loop updates no state; carry '" + name + "' from step to step");
    return Poison(statement->name);
  }
  if (in_minimize_) {
    Error(Code::kMisplaced, statement->name.range,
          "what an optimizer is given is part of training alone, and updates no state");
    return Poison(statement->name);
  }
  const Datum datum = Evaluate(statement->value, FullName(name));
  auto known = frame_->states.find(name);
  Value* state = known != frame_->states.end() ? known->second : graph_.FindValue(FullName(name));
  if (state == nullptr || state->kind() != ValueKind::kState) {
    auto found = frame_->scope.find(name);
    if (found == frame_->scope.end() || !found->second.is_poison()) {
      std::vector<llvm::StringRef> states;
      for (const auto& entry : frame_->states) states.push_back(entry.first());
      llvm::sort(states);
      Error(Code::kNoState, statement->name.range,
            "no state is called '" + name + "'" + DidYouMean(name, states));
    }
    return Poison(statement->name);
  }
  Value* value = AsTensor(datum, statement->value->range, state->type().dtype, FullName(name));
  if (value == nullptr) return Poison(statement->name);
  if (CheckType(value->type(), state->type(), statement->value->range,
                "the next value of '" + name + "'")) {
    SetUpdate(state, value);
    if (journal_ != nullptr) journal_->states.insert({state, CurrentState(state)});
    current_[state] = value;
  }
  Assign(name, Datum(value));
}

void Elaborator::ElaborateOutput(const ast::OutputStatement* statement) {
  for (const ast::Argument& binding : statement->bindings) {
    const auto* as_name = llvm::dyn_cast<ast::NameExpr>(binding.value);
    const ast::Identifier name =
        binding.is_named() ? binding.name : ast::Identifier{as_name->name, as_name->range};
    frame_->base = name.text.str();
    const std::string full = FullName(name.text);
    const Targets targets = binding.is_named() ? Targets(full) : Targets();
    const Datum datum = Evaluate(binding.value, targets);
    if (frame_->arguments != nullptr) {  // a result of the file that is called
      frame_->results.push_back({name.text.str(), datum, binding.value->range});
      if (binding.is_named()) Assign(name.text, datum);
      continue;
    }
    auto [entry, is_new] = outputs_.try_emplace(name.text, name.range);
    if (!is_new) {
      Error(Code::kRedefined, name.range, "there is an output '" + name.text + "' already")
          .Note("first on line " + std::to_string(file_->LineOf(entry->second.begin)));
      continue;
    }
    Value* value = AsTensor(datum, binding.value->range, std::nullopt, full);
    if (value == nullptr) {
      if (binding.is_named()) Poison(binding.name);
      continue;
    }
    graph_.AddOutput(name.text, value, statement->doc.str());
    if (binding.is_named()) Assign(name.text, Datum(value));
  }
}

void Elaborator::CheckOutputNames() {
  for (const GraphOutput& output : graph_.outputs()) {
    const Value* kept = graph_.FindValue(output.name);
    const auto place = outputs_.find(output.name);
    if (kept == nullptr || place == outputs_.end()) continue;
    const bool is_state = kept->kind() == ValueKind::kState;
    if (!is_state && kept->kind() != ValueKind::kParameter) continue;
    const Value* last = kept;
    for (const GraphUpdate& update : graph_.updates())
      if (update.state == kept) last = update.value;
    if (output.value == last) continue;
    Error(Code::kRedefined, place->second,
          "the output '" + output.name + "' is another value than the " +
              (is_state ? "state" : "parameter") + " of that name when a run ends")
        .Note("give it a name of its own: output " + output.name + "_now = " + output.name);
  }
}

void Elaborator::ElaborateReturn(const ast::OutputStatement* statement) {
  frame_->returned = frame_->saw_return = true;
  size_t index = 0;
  for (const ast::Argument& binding : statement->bindings) {
    const auto* as_name = llvm::dyn_cast<ast::NameExpr>(binding.value);
    std::string name = binding.is_named()   ? binding.name.text.str()
                       : as_name != nullptr ? as_name->name.str()
                       : index == 0         ? "y"
                                            : "y_" + std::to_string(index + 1);
    frame_->base.clear();
    std::string target =
        index < frame_->result_names.size() ? frame_->result_names[index] : std::string("_");
    const Datum datum = Evaluate(binding.value, target == "_" ? Targets() : Targets(target));
    for (const TextFrame::Result& result : frame_->results) {
      if (result.name != name) continue;
      Error(Code::kRedefined, binding.range(), "there is a result '" + name + "' already")
          .Note("results get names of their own by: return a=" + name + ", b=" + name);
      break;
    }
    frame_->results.push_back({std::move(name), datum, binding.value->range});
    ++index;
  }
}

void Elaborator::ElaborateAssign(const ast::AssignStatement* statement) {
  const Names targets = statement->targets;
  // Only then: the value on the right still has what stood there before.
  const auto note_assigned = llvm::make_scope_exit([&] {
    for (const ast::Identifier& target : targets) frame_->assigned[target.text] = statement->range;
  });
  for (size_t i = 0; i < targets.size(); ++i) {
    if (frame_->base.empty() && targets[i].text != "_") frame_->base = targets[i].text.str();
    for (size_t j = 0; j < i; ++j) {
      if (targets[i].text == targets[j].text && targets[i].text != "_") {
        Error(Code::kRedefined, targets[i].range, "'" + targets[i].text + "' stands here twice")
            .Underline(targets[j].range);
        return Poison(targets);
      }
    }
  }
  std::optional<Type> declared;
  if (statement->type != nullptr) {
    declared = ReadType(statement->type, /*introduces=*/false);
    if (!declared) {
      Evaluate(statement->value);
      return Poison(targets);
    }
  }
  const llvm::SmallVector<std::string, 1> names = FullNames(targets);
  const Results results = EvaluateResults(statement->value, names);
  Datum datum = UseFirst(results, statement->value->range);
  if (declared && !datum.holds_poison()) {
    Value* value = AsTensor(datum, statement->value->range, declared->dtype, names);
    if (value == nullptr || !CheckType(value->type(), *declared, statement->value->range,
                                       "'" + targets.front().text + "'")) {
      return Poison(targets);
    }
    datum = Datum(value);
  }
  if (targets.empty()) {
    if (datum.tensor() != nullptr) last_value_ = datum.tensor()->name();
    last_results_ = results.all;
    return;
  }
  if (datum.is_poison()) return Poison(targets);
  Value* first = datum.tensor();
  if (first != nullptr && !statement->doc.empty() && first->comment().empty()) {
    graph_.SetComment(first, statement->doc.str());
  }
  if (targets.size() == 1) {
    if (datum.tensor() != nullptr) last_value_ = datum.tensor()->name();
    if (targets[0].text != "_") Assign(targets[0].text, std::move(datum));
    return;
  }
  const size_t count = results.all.size();
  if (count < targets.size()) {
    Error(
        Code::kResultCount, targets[count].range,
        "there " +
            llvm::Twine(count == 1 ? "is 1 result" : "are " + std::to_string(count) + " results") +
            " for " + llvm::Twine(targets.size()) + " names");
    return Poison(targets);
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].text == "_") continue;
    const TextFrame::Result& result = results.all[i];
    Assign(targets[i].text, i == 0 ? result.datum : Use(result, targets[i].range));
  }
  if (first != nullptr) last_value_ = first->name();
}

void Elaborator::ElaborateAssert(const ast::AssertStatement* statement) {
  std::vector<DimCheck> checks;
  bool failed = false;
  if (!ReadCondition(statement->condition, &checks, &failed)) return;
  const llvm::StringRef message = statement->message.value;
  if (failed) {
    Error(Code::kAssertion, statement->condition->range,
          message.empty() ? llvm::Twine("this does not hold") : llvm::Twine(message));
    if (frame_->callee.empty()) return;
    frame_->returned = frame_->refused = true;
    return;
  }
  for (DimCheck& check : checks) {
    if (!message.empty()) check.message = message.str();
    AddConstraint(std::move(check), LocationAt(statement->range.begin));
  }
}

}  // namespace pdl
