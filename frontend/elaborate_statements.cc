#include "frontend/elaborator.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::StatementKind;

void Elaborator::Elaborate(const ast::Statement* statement) {
  const SourceRange head{statement->range.begin, statement->range.begin};
  auto keyword = [&](size_t length) {
    return SourceRange{head.begin, head.begin + static_cast<uint32_t>(length)};
  };
  base_.clear();
  last_value_.clear();
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
      Poison(llvm::cast<ast::BrokenStatement>(statement)->names);
      for (const ast::Identifier& name : llvm::cast<ast::BrokenStatement>(statement)->names) {
        unsupported_layers_.insert(name.text);
      }
      return;
    case StatementKind::kLayer: {
      const auto* layer = llvm::cast<ast::LayerStatement>(statement);
      unsupported_layers_.insert(layer->name.text);
      return NotYet(keyword(5), "layers are");
    }
    case StatementKind::kLayerInstance: {
      const auto* layer = llvm::cast<ast::LayerInstanceStatement>(statement);
      unsupported_layers_.insert(layer->name.text);
      return NotYet(keyword(5), "layers are");
    }
    case StatementKind::kImport: {
      const auto* import = llvm::cast<ast::ImportStatement>(statement);
      if (!import->as.text.empty()) unsupported_layers_.insert(import->as.text);
      return NotYet(keyword(6), "imports are");
    }
    case StatementKind::kLoad:
      return NotYet(keyword(4), "loading into layers is");
    case StatementKind::kMinimize:
      return NotYet(keyword(8), "training is");
    case StatementKind::kIf:
      NotYet(keyword(2), "'if' is");
      return PoisonAssigned(statement);
    case StatementKind::kFor:
      NotYet(keyword(3), "'for' is");
      return PoisonAssigned(statement);
    case StatementKind::kTest:
      return NotYet(keyword(4), "tests are");
    case StatementKind::kFeed:
    case StatementKind::kExpect:
      Error(Code::kMisplaced, keyword(statement->kind == StatementKind::kFeed ? 4 : 6),
            llvm::Twine("'") + (statement->kind == StatementKind::kFeed ? "feed" : "expect") +
                "' stands inside a test");
      return;
    case StatementKind::kReturn:
      Error(Code::kMisplaced, keyword(6), "'return' stands inside a layer; a file says 'output'");
      return;
  }
}

void Elaborator::ElaborateUpdate(const ast::UpdateStatement* statement) {
  const llvm::StringRef name = statement->name.text;
  base_ = name.str();
  const Datum datum = Evaluate(statement->value, statement->name);
  Value* state = graph_.FindValue(name);
  if (state == nullptr || state->kind() != ValueKind::kState) {
    auto found = scope_.find(name);
    if (found == scope_.end() || !found->second.is_poison()) {
      std::vector<llvm::StringRef> states;
      for (const Value* candidate : graph_.states()) states.push_back(candidate->name());
      Error(Code::kNoState, statement->name.range,
            "no state is called '" + name + "'" + DidYouMean(name, states));
    }
    return Poison(statement->name);
  }
  Value* value = AsTensor(datum, statement->value->range, state->type().dtype, statement->name);
  if (value == nullptr) return Poison(statement->name);
  if (CheckType(value->type(), state->type(), statement->value->range,
                "the next value of '" + name + "'")) {
    graph_.AddUpdate(state, value);
  }
  scope_[name] = Datum(value);
}

void Elaborator::ElaborateOutput(const ast::OutputStatement* statement) {
  for (const ast::Argument& binding : statement->bindings) {
    const auto* as_name = llvm::dyn_cast<ast::NameExpr>(binding.value);
    const ast::Identifier name =
        binding.is_named() ? binding.name : ast::Identifier{as_name->name, as_name->range};
    base_ = name.text.str();
    const Targets targets = binding.is_named() ? Targets(binding.name) : Targets();
    const Datum datum = Evaluate(binding.value, targets);
    auto [entry, is_new] = outputs_.try_emplace(name.text, name.range);
    if (!is_new) {
      Error(Code::kRedefined, name.range, "there is an output '" + name.text + "' already")
          .Note("first on line " + std::to_string(file_->LineOf(entry->second.begin)));
      continue;
    }
    Value* value = AsTensor(datum, binding.value->range, std::nullopt, name);
    if (value == nullptr) {
      if (binding.is_named()) Poison(binding.name);
      continue;
    }
    graph_.AddOutput(name.text, value, statement->doc.str());
    if (binding.is_named()) scope_[name.text] = Datum(value);
  }
}

namespace {

const ast::Expr* StripParentheses(const ast::Expr* expr) {
  while (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(expr)) {
    expr = parenthesis->inner;
  }
  return expr;
}

// A call, also at the end of a pipe: what several names can be assigned from.
bool IsCall(const ast::Expr* expr) {
  expr = StripParentheses(expr);
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(expr);
  return expr->kind == ast::ExprKind::kCall ||
         (chain != nullptr && chain->operators[0].op == ast::Operator::kPipe);
}

}  // namespace

void Elaborator::ElaborateAssign(const ast::AssignStatement* statement) {
  const Targets targets = statement->targets;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (base_.empty() && targets[i].text != "_") base_ = targets[i].text.str();
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
  Datum datum = Evaluate(statement->value, targets);
  if (declared && !datum.holds_poison()) {
    Value* value = AsTensor(datum, statement->value->range, declared->dtype, targets);
    if (value == nullptr || !CheckType(value->type(), *declared, statement->value->range,
                                       "'" + targets.front().text + "'")) {
      return Poison(targets);
    }
    datum = Datum(value);
  }
  if (targets.empty()) {
    if (datum.tensor() != nullptr) last_value_ = datum.tensor()->name();
    return;
  }
  if (datum.is_poison()) return Poison(targets);
  Value* first = datum.tensor();
  if (first != nullptr && !statement->doc.empty() && first->comment().empty()) {
    graph_.SetComment(first, statement->doc.str());
  }
  if (targets.size() == 1) {
    if (datum.tensor() != nullptr) last_value_ = datum.tensor()->name();
    if (targets[0].text != "_") scope_[targets[0].text] = std::move(datum);
    return;
  }
  const size_t count =
      first != nullptr && IsCall(statement->value) ? first->producer()->results().size() : 1;
  if (count < targets.size()) {
    Error(
        Code::kResultCount, targets[count].range,
        "there " +
            llvm::Twine(count == 1 ? "is 1 result" : "are " + std::to_string(count) + " results") +
            " for " + llvm::Twine(targets.size()) + " names");
    return Poison(targets);
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].text != "_")
      scope_[targets[i].text] = Datum(first->producer()->result(static_cast<unsigned>(i)));
  }
  last_value_ = first->name();
}

void Elaborator::ElaborateAssert(const ast::AssertStatement* statement) {
  std::vector<DimCheck> checks;
  bool failed = false;
  if (!ReadCondition(statement->condition, &checks, &failed)) return;
  const llvm::StringRef message = statement->message.value;
  if (failed) {
    Error(Code::kAssertion, statement->condition->range,
          message.empty() ? llvm::Twine("this does not hold") : llvm::Twine(message));
    return;
  }
  for (DimCheck& check : checks) {
    if (!message.empty()) check.message = message.str();
    graph_.AddConstraint({std::move(check), LocationAt(statement->range.begin)});
  }
}

}  // namespace pdl
