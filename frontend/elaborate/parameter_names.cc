#include "frontend/elaborate/parameter_names.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/name_expressions.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

bool ParameterNames::ReadParameters(const ast::Expr* expr, std::vector<Value*>* parameters) {
  if (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(expr))
    return ReadParameters(parenthesis->inner, parameters);
  if (const auto* list = llvm::dyn_cast<ast::ListExpr>(expr)) {
    bool ok = true;
    for (const ast::Argument& item : list->items) ok &= ReadParameters(item.value, parameters);
    return ok;
  }
  if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) {
    const Datum datum = expressions_.Evaluate(call);
    if (datum.is_poison()) return false;
    for (const Datum& item : datum.list() != nullptr ? *datum.list() : std::vector<Datum>()) {
      Value* parameter = item.tensor();
      if (parameter != nullptr && parameter->kind() == ValueKind::kParameter &&
          !llvm::is_contained(*parameters, parameter))
        parameters->push_back(parameter);
    }
    if (datum.list() != nullptr) return true;
  }
  const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
  if (name == nullptr && !llvm::isa<ast::MemberExpr>(expr)) {
    report_.Error(Code::kOperandKind, expr->range,
                  "expected the name of a layer, a value or a parameter, or a list of such names");
    return false;
  }
  const llvm::StringRef text = at_.file->Text(expr->range);
  if (!names_.CheckLayer(text, expr->range)) return false;
  const std::vector<Value*> found = ParametersBelow(text);
  if (!found.empty()) {
    for (Value* parameter : found)
      if (!llvm::is_contained(*parameters, parameter)) parameters->push_back(parameter);
    return true;
  }
  const bool is_known = name != nullptr && (at_.frame->scope.contains(name->name) ||
                                            at_.frame->instances.contains(name->name));
  // The calls that create them may have failed.
  if (callees_.IsBroken(text) || (is_known && report_.diagnostics().has_errors())) return false;
  if (!is_known && name != nullptr) {
    name_expressions_.ReportUnknownName(name);
    return false;
  }
  // They may be missing because of an error that was reported.
  const auto value = at_.frame->scope.find(text);
  if ((value != at_.frame->scope.end() && value->second.holds_poison()) || IsIncomplete(text)) {
    return false;
  }
  report_.Error(Code::kUnknownName, expr->range, "there are no parameters below '" + text + "'");
  return false;
}

std::vector<Value*> ParameterNames::ParametersBelow(llvm::StringRef name) {
  const std::vector<std::string> prefixes = PathPrefixesOf(name);
  std::vector<Value*> found;
  if (at_.IsRepeated() && !budget_.Spend(graph_.parameters().size() * prefixes.size() / 8, {}))
    return found;
  for (Value* parameter : graph_.parameters()) {
    const llvm::StringRef full = parameter->name();
    const bool is_below = llvm::any_of(prefixes, [&](const std::string& path) {
      return full.starts_with(path) && (full.size() == path.size() || full[path.size()] == '.');
    });
    if (is_below) found.push_back(parameter);
  }
  return found;
}

std::vector<std::string> ParameterNames::NamesBelow(llvm::StringRef name) {
  // First as a member of `name` is written: 0.w below z for z.0.w.
  std::vector<std::string> prefixes = {at_.frame->FullName(name)};
  llvm::append_range(prefixes, PathPrefixesOf(name));
  std::vector<std::string> names;
  for (const Value* parameter : ParametersBelow(name)) {
    for (const std::string& path : prefixes) {
      llvm::StringRef rest = parameter->name();
      if (!rest.consume_front(path) || !rest.consume_front(".")) continue;
      names.push_back(rest.str());
      break;
    }
  }
  return names;
}

bool ParameterNames::IsIncomplete(llvm::StringRef name) {
  return llvm::any_of(PathPrefixesOf(name), [&](const std::string& path) {
    return values_.incomplete_paths.contains(path);
  });
}

std::vector<std::string> ParameterNames::PathPrefixesOf(llvm::StringRef name) {
  std::vector<std::string> prefixes;
  const auto instance = at_.frame->instances.find(name);
  if (instance != at_.frame->instances.end() && instance->second != nullptr &&
      !instance->second->path.empty()) {
    prefixes.push_back(instance->second->path);
  }
  if (auto found = at_.frame->call_paths.find(name); found != at_.frame->call_paths.end())
    prefixes.insert(prefixes.end(), found->second.begin(), found->second.end());
  if (auto found = at_.frame->scope.find(name); found != at_.frame->scope.end()) {
    const auto* function = found->second.get<Datum::FunctionValue>();
    if (function != nullptr && !(*function)->path.empty()) prefixes.push_back((*function)->path);
  }
  if (prefixes.empty()) prefixes.push_back(at_.frame->FullName(name));
  return prefixes;
}

}  // namespace pdl
