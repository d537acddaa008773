#include "frontend/elaborate/functions.h"

#include "frontend/elaborate/argument_binder.h"
#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/given_parameters.h"
#include "frontend/elaborate/layer_argument_reader.h"
#include "frontend/elaborate/layer_calls.h"
#include "frontend/elaborate/layer_copies.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

void Functions::ReportNotCalled(llvm::StringRef name, SourceRange range) {
  report_.Error(Code::kOperandKind, range, "a function is written as a call: " + name + "()");
}

Datum Functions::ReadFunction(const ast::Expr* expr) {
  while (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(expr)) {
    expr = parenthesis->inner;
  }
  if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) return FunctionOf(call);
  if (const auto* text = llvm::dyn_cast<ast::StringExpr>(expr)) {
    return FunctionNamed(text->value, text->range);
  }
  if (llvm::isa<ast::MemberExpr>(expr)) {
    const llvm::StringRef text = at_.file->Text(expr->range);
    if (callees_.FindCallee(text).is_network()) {
      ReportNotCalled(text, expr->range);
      return Datum();
    }
  }
  if (const auto* name = llvm::dyn_cast<ast::NameExpr>(expr)) {
    if (auto found = at_.frame->instances.find(name->name); found != at_.frame->instances.end()) {
      names_.CheckLayer(name->name, name->range);
      return found->second == nullptr ? Datum() : Datum(found->second);
    }
    if (!at_.frame->scope.contains(name->name)) {
      const Callee callee = callees_.FindCallee(name->name);
      if (callee.op != nullptr || callee.is_network()) {
        ReportNotCalled(name->name, name->range);
        return Datum();
      }
    }
  }
  const Datum datum = expressions_.Evaluate(expr);
  if (datum.holds_poison() || datum.is<Datum::None>() || datum.is<Datum::FunctionValue>()) {
    return datum;
  }
  report_.Error(Code::kAttributeType, expr->range,
                "expected a function such as relu() or fc(size=10), got " + datum.Phrase());
  return Datum();
}

Datum Functions::FunctionOf(const ast::CallExpr* call) {
  const Callee callee = callees_.ResolveCallee(call->callee);
  if (callee.function != nullptr) {
    if (!call->arguments.empty()) {
      report_.Error(Code::kOperandKind, call->arguments.front().range(),
                    "'" + callee.name +
                        "' is a function already: its arguments are given where it is "
                        "made");
      return Datum();
    }
    return Datum(callee.function);
  }
  if (callee.op == nullptr && !callee.is_network()) return Datum();
  auto function = std::make_shared<Function>();
  function->callee = callee;
  function->active = at_.frame->active;
  auto holds = [&](unsigned depth) { function->depth = std::max(function->depth, depth + 1); };
  if (callee.op != nullptr) {
    Call& made = function->call;
    made.def = callee.op;
    made.place = call->callee->range;
    made.attribute_file = at_.file;
    made.is_partial = true;
    binder_.BindArguments(call, nullptr, &made);
    if (made.is_poison) return Datum();
    if (!made.operands.empty()) {
      const auto& attributes = callee.op->signature.attributes;
      ReportInput(callee, made.operands.front().range,
                  attributes.empty() ? "" : llvm::StringRef(attributes.front().name));
      return Datum();
    }
    if (made.body != nullptr) holds(made.body->depth);
  } else {
    argument_reader_.ReadLayerArguments(callee, call, nullptr, &function->arguments);
    if (function->arguments.is_poison) return Datum();
    if (!function->arguments.operands.empty()) {
      llvm::StringRef attribute;
      if (callee.layer != nullptr)
        for (const ast::Parameter& parameter : callee.layer->parameters)
          if (attribute.empty() && (!parameter.type->is_tensor() || parameter.default_value))
            attribute = parameter.name.text;
      ReportInput(callee, function->arguments.operands.front().range, attribute);
      return Datum();
    }
    for (const LayerArgument& given : function->arguments.named) holds(given.datum.depth());
  }
  if (!budget_.CheckDepth(function->depth, call->range)) return Datum();
  return Datum(FunctionPtr(std::move(function)));
}

void Functions::ReportInput(const Callee& callee, SourceRange range, llvm::StringRef attribute) {
  Diagnostic& diagnostic = report_.Error(
      Code::kOperandKind, range, "a function is a call without its inputs: " + callee.name + "(…)");
  if (!attribute.empty())
    diagnostic.Note(
        ("attributes are given by name: " + attribute + "=" + at_.file->Text(range)).str());
}

Datum Functions::FunctionNamed(llvm::StringRef name, SourceRange range) {
  auto function = std::make_shared<Function>();
  function->callee = callees_.FindCallee(name);
  if (function->callee.function != nullptr) return Datum(function->callee.function);
  if (function->callee.op == nullptr && !function->callee.is_network()) {
    if (names_.CheckLayer(name, range) && !callees_.IsBroken(name)) {
      report_.Error(Code::kUnknownOperator, range,
                    "no operator or layer is called '" + name + "'" +
                        report_.DidYouMean(name, callees_.CalleeNames()));
    }
    return Datum();
  }
  function->call.def = function->callee.op;
  function->call.place = range;
  function->call.attribute_file = at_.file;
  function->arguments.file = at_.file;
  function->arguments.place = range;
  function->active = at_.frame->active;
  return Datum(FunctionPtr(std::move(function)));
}

Datum Functions::EvaluateFor(const ast::Type* type, const ast::Expr* expr) {
  const ast::TypeTerm& term = type->terms.front();
  const bool is_function = term.name.text == "function";
  if (term.has_dims) return expressions_.Evaluate(expr);
  if (is_function && !term.is_list) return ReadFunction(expr);
  const auto* list = llvm::dyn_cast<ast::ListExpr>(expr);
  if (is_function && list != nullptr) {
    std::vector<Datum> items;
    for (const ast::Argument& item : list->items) {
      if (!item.is_spread) {
        items.push_back(ReadFunction(item.value));
        continue;
      }
      const Datum spread = expressions_.Evaluate(item.value);
      if (const auto* more = spread.list()) {
        if (!budget_.MayGrow(items.size(), more->size(), item.value->range)) return Datum();
        items.insert(items.end(), more->begin(), more->end());
      }
    }
    return budget_.MakeList(std::move(items), expr->range);
  }
  return expressions_.Evaluate(expr);
}

FunctionPtr Functions::MakeInstance(const FunctionPtr& function, std::string path) {
  if (function == nullptr || !function->path.empty() || !function->callee.is_network()) {
    return function;
  }
  auto instance = std::make_shared<Function>(*function);
  instance->path = std::move(path);
  return instance;
}

namespace {

/// Whether a call of the function may pass this argument by name.
bool IsInput(const Callee& callee, llvm::StringRef name) {
  if (callee.op != nullptr) return callee.op->signature.FindInput(name) >= 0;
  if (!callee.is_network()) return false;
  const ast::Type* type = DeclaredType(callee, name);
  return type != nullptr && type->is_tensor();
}

}  // namespace

bool Functions::ReadInputs(const Callee& callee, const ast::CallExpr* expr, const Operand* piped,
                           LayerArguments* given) {
  if (piped != nullptr) given->operands.push_back(*piped);
  for (const ast::Argument& argument : expr->arguments) {
    const llvm::StringRef name = argument.name.text;
    if (callee.is_network() && !IsInput(callee, name)) {
      if (name == "params") {
        given_parameters_.Read(argument, given);
        continue;
      }
      if (name == "training" || name == "recompute") {
        argument_reader_.ReadMode(argument, given);
        continue;
      }
    }
    Datum datum = expressions_.Evaluate(argument.value);
    if (argument.is_named()) {
      if (!IsInput(callee, argument.name.text)) {
        report_.Error(Code::kOperandKind, argument.name.range,
                      "'" + at_.file->Text(expr->callee->range) +
                          "' is a function: its attributes are given where it is made");
        given->is_poison = true;
        continue;
      }
      if (callee.is_network()) {
        given->is_poison |= datum.holds_poison();
        const auto has_name = [&](const LayerArgument& other) {
          return other.name.text == argument.name.text;
        };
        if (llvm::any_of(given->named, has_name)) {
          report_.Error(Code::kRedefined, argument.name.range,
                        "'" + argument.name.text + "' is given twice");
          given->is_poison = true;
        }
        given->named.push_back({argument.name, std::move(datum), argument.value->range});
        continue;
      }
    }
    if (argument.is_spread && datum.list() != nullptr) {
      if (!budget_.SpendItems(datum.list()->size(), argument.value->range)) return false;
      for (const Datum& item : *datum.list())
        given->operands.push_back({item, argument.value->range});
      continue;
    }
    given->operands.push_back({std::move(datum), argument.value->range});
  }
  for (const Operand& operand : given->operands) given->is_poison |= operand.datum.holds_poison();
  return true;
}

CallResults Functions::Apply(const FunctionPtr& function, const ast::CallExpr* expr,
                             const Operand* piped, Targets targets) {
  const Callee& callee = function->callee;
  LayerArguments given;
  given.named = function->arguments.named;
  if (!ReadInputs(callee, expr, piped, &given)) return {};
  if (given.is_poison) {
    if (!function->path.empty()) values_.incomplete_paths.insert(function->path);
    return {};
  }
  if (callee.op != nullptr) {
    Call call = function->call;
    call.place = expr->callee->range;
    if (!binder_.SettleLiterals(&call)) return {};
    call.operands = std::move(given.operands);
    return emitter_.ResultsOf(emitter_.Emit(call, targets));
  }
  if (callee.is_network()) {
    LayerArguments arguments = function->arguments;
    arguments.place = expr->callee->range;
    arguments.operands = std::move(given.operands);
    arguments.named = std::move(given.named);
    if (given.params != nullptr) arguments.params = std::move(given.params);
    arguments.training_off |= given.training_off;
    arguments.recompute |= given.recompute;
    const bool is_instance = !function->path.empty();
    const std::string path =
        is_instance ? function->path : names_.TakePath(callee.name, !targets.empty());
    return layers_.CallLayer(callee, arguments, path, is_instance || at_.frame->is_instance,
                             function->active, targets);
  }
  // The identity.
  CallResults results;
  if (given.operands.size() != 1) {
    report_.Error(Code::kOperandCount, expr->range,
                  "'" + at_.file->Text(expr->callee->range) +
                      "' is none here, which returns its single argument, got " +
                      llvm::Twine(given.operands.size()));
    return results;
  }
  const Operand& operand = given.operands.front();
  results.all.push_back({"", operand.datum, operand.range});
  return results;
}

CallResults Functions::ApplyTo(const FunctionPtr& function, llvm::ArrayRef<Operand> operands,
                               SourceRange place, llvm::StringRef path) {
  if (function->callee.op != nullptr) {
    Call call = function->call;
    call.place = place;
    if (!binder_.SettleLiterals(&call)) return {};
    call.operands.assign(operands.begin(), operands.end());
    return emitter_.ResultsOf(emitter_.Emit(call, {}));
  }
  LayerArguments arguments = function->arguments;
  arguments.place = place;
  arguments.operands.assign(operands.begin(), operands.end());
  const bool has_path = !function->path.empty();
  return layers_.CallLayer(function->callee, arguments,
                           has_path ? llvm::StringRef(function->path) : path,
                           has_path || at_.frame->is_instance, function->active, {});
}

void Functions::ElaborateInstance(const ast::LayerInstanceStatement* statement) {
  const llvm::StringRef name = statement->name.text;
  at_.frame->base = name.str();
  const Callee copy = callees_.FindCallee("copy");
  const bool is_defined = copy.op != nullptr || copy.is_network() || copy.function != nullptr;
  if (!is_defined && LayerCopies::AsCopy(statement->value) != nullptr) {
    report_.Error(Code::kUnknownOperator, statement->value->range,
                  ("a copy of a layer has states, which are declared: state " + name + " = " +
                   at_.file->Text(statement->value->range))
                      .str());
    return names_.AssignLayer(name, {});
  }
  const Datum datum = ReadFunction(statement->value);
  if (datum.is<Datum::None>()) {
    report_.Error(Code::kOperandKind, statement->value->range, "expected a layer, got none");
  }
  const auto* function = datum.get<Datum::FunctionValue>();
  if (function == nullptr) {
    return names_.AssignLayer(name, {});
  }
  FunctionPtr instance = *function;
  if (instance->path.empty() && instance->callee.is_network()) {
    instance = MakeInstance(instance, names_.TakePath(name, /*is_outermost=*/true));
  }
  names_.AssignLayer(name, {std::move(instance)});
}

}  // namespace pdl
