#include "frontend/elaborate/layer_copies.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/parameter_names.h"
#include "frontend/elaborate/reporter.h"

namespace pdl {

const ast::CallExpr* LayerCopies::AsCopy(const ast::Expr* expr) {
  const auto* call = llvm::dyn_cast<ast::CallExpr>(expr);
  const auto* name = call == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(call->callee);
  return name != nullptr && name->name == "copy" ? call : nullptr;
}

FunctionPtr LayerCopies::InstanceNamed(llvm::StringRef name) const {
  FunctionPtr function;
  if (auto found = at_.frame->instances.find(name); found != at_.frame->instances.end()) {
    function = found->second;
  } else if (auto value = at_.frame->scope.find(name); value != at_.frame->scope.end()) {
    if (const auto* given = value->second.get<Datum::FunctionValue>()) function = *given;
  }
  return function != nullptr && !function->path.empty() ? function : nullptr;
}

std::optional<LayerCopies::Source> LayerCopies::ReadSource(const ast::CallExpr* copy) {
  if (copy->arguments.size() != 1 || copy->arguments[0].is_named() ||
      copy->arguments[0].is_spread) {
    report_.Error(Code::kBadInitializer, copy->range,
                  "copy takes a layer instance, a parameter or a state: copy(net)");
    return std::nullopt;
  }
  const ast::Expr* expr = ast::WithoutParentheses(copy->arguments[0].value);
  const llvm::StringRef text = at_.file->Text(expr->range);
  if (const auto broken = at_.frame->instances.find(text);
      broken != at_.frame->instances.end() && broken->second == nullptr) {
    names_.CheckLayer(text, expr->range);
    return std::nullopt;
  }
  if (FunctionPtr layer = InstanceNamed(text)) return Source{std::move(layer), text};
  Value* value = graph_.FindValue(at_.frame->FullName(text));
  Datum datum;
  if (value == nullptr ||
      (value->kind() != ValueKind::kParameter && value->kind() != ValueKind::kState)) {
    datum = expressions_.Evaluate(expr);
    if (datum.holds_poison()) return std::nullopt;
    value = datum.tensor();
  }
  if (value != nullptr &&
      (value->kind() == ValueKind::kParameter || value->kind() == ValueKind::kState))
    return Source{nullptr, text, value};
  Diagnostic& diagnostic =
      report_.Error(Code::kBadInitializer, expr->range,
                    "copy takes a layer instance, a parameter or a state; '" + text + "' is " +
                        (value == nullptr                     ? datum.Phrase()
                         : value->kind() == ValueKind::kInput ? "an input"
                                                              : "computed"));
  if (at_.frame->call_paths.contains(text))
    diagnostic.Note("an instance has a name of its own: layer net = ..., " + text.str() +
                    " = net(...)");
  return std::nullopt;
}

void LayerCopies::CopyLayer(const ast::Identifier& name, const Source& source) {
  const std::string& from = source.layer->path;
  const size_t count = graph_.parameters().size() + graph_.states().size();
  if (at_.IsRepeated() && !budget_.Spend(count / 8, name.range)) return Poison(name);
  std::vector<Value*> originals;
  for (llvm::ArrayRef<Value*> all : {graph_.parameters(), graph_.states()})
    for (Value* value : all)
      if (llvm::StringRef(value->name()).starts_with(from + ".")) originals.push_back(value);
  if (originals.empty()) {
    if (!parameter_names_.IsIncomplete(source.name)) {
      report_.Error(Code::kUnknownName, name.range,
                    "there is nothing to copy: the first call of '" + source.name +
                        "' creates its parameters");
    }
    return Poison(name);
  }
  at_.frame->base = name.text.str();
  const std::string path = names_.TakePath(name.text, /*is_outermost=*/true);
  values_.copied_paths.insert(path);
  const LocationId location = at_.AddLocation(graph_, name.range.begin);
  for (const Value* original : originals) {
    const std::string full = path + original->name().substr(from.size());
    if (const Value* known = graph_.FindValue(full)) {
      // Another call of the instance that this is part of has created it.
      if (known->kind() == ValueKind::kState && known->variable().copy_of == original->name())
        continue;
      report_.Error(Code::kRedefined, name.range, "'" + full + "' is defined already");
      return Poison(name);
    }
    VariableInfo info;
    info.copy_of = original->name();
    Value* state = graph_.AddState(full, original->type(), std::move(info), location);
    graph_.SetComment(state, original->comment());
  }
  auto instance = std::make_shared<Function>(*source.layer);
  instance->path = path;
  names_.AssignLayer(name.text, {std::move(instance)});
}

void LayerCopies::Poison(const ast::Identifier& name) {
  names_.Poison(name);
  names_.AssignLayer(name.text, {});
}

bool LayerCopies::IsInCopy(llvm::StringRef variable) const {
  if (values_.copied_paths.empty()) return false;
  for (size_t dot = variable.rfind('.'); dot != llvm::StringRef::npos; dot = variable.rfind('.')) {
    variable = variable.take_front(dot);
    if (values_.copied_paths.contains(variable)) return true;
  }
  return false;
}

std::string LayerCopies::PathOf(llvm::StringRef name) const {
  const FunctionPtr instance = InstanceNamed(name);
  const bool is_copy = instance != nullptr && values_.copied_paths.contains(instance->path);
  return is_copy ? instance->path : "";
}

std::vector<Value*> LayerCopies::ParametersOf(llvm::StringRef path, SourceRange place) {
  std::vector<Value*> found;
  if (at_.IsRepeated() && !budget_.Spend(graph_.states().size() / 8, place)) return found;
  for (Value* state : graph_.states()) {
    llvm::StringRef rest = state->name();
    if (!rest.consume_front(path) || !rest.starts_with(".")) continue;
    const Value* original = state;
    while (original != nullptr && !original->variable().copy_of.empty())
      original = graph_.FindValue(original->variable().copy_of);
    if (original != nullptr && original->kind() == ValueKind::kParameter) found.push_back(state);
  }
  return found;
}

}  // namespace pdl
