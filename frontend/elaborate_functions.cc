// Functions: calls that leave out their inputs; and records of parameter attributes.
#include "frontend/elaborator.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/attribute_reader.h"

namespace pdl {

Datum Elaborator::FunctionNamed(llvm::StringRef name, SourceRange range) {
  auto function = std::make_shared<Function>();
  function->callee = FindCallee(name);
  if (function->callee.function != nullptr) return Datum(function->callee.function);
  if (function->callee.op == nullptr && !function->callee.is_network()) {
    if (!IsBroken(name)) {
      Error(Code::kUnknownOperator, range,
            "no operator or layer is called '" + name + "'" + DidYouMean(name, CalleeNames()));
    }
    return Datum();
  }
  function->call.def = function->callee.op;
  function->call.place = range;
  function->call.attribute_file = file_;
  function->arguments.file = file_;
  function->arguments.place = range;
  function->active = frame_->active;
  return Datum(FunctionPtr(std::move(function)));
}

Datum Elaborator::FunctionOf(const ast::CallExpr* call) {
  const Callee callee = ResolveCallee(call->callee);
  if (callee.function != nullptr) {
    if (!call->arguments.empty()) {
      Error(Code::kOperandKind, call->arguments.front().range(),
            "'" + callee.name +
                "' is a function already: what it is given is settled where it is "
                "made");
      return Datum();
    }
    return Datum(callee.function);
  }
  if (callee.op == nullptr && !callee.is_network()) return Datum();
  auto function = std::make_shared<Function>();
  function->callee = callee;
  function->active = frame_->active;
  auto holds = [&](unsigned depth) { function->depth = std::max(function->depth, depth + 1); };
  if (callee.op != nullptr) {
    Call& made = function->call;
    made.def = callee.op;
    made.place = call->callee->range;
    made.attribute_file = file_;
    BindArguments(call, nullptr, &made);
    if (made.is_poison) return Datum();
    if (!made.operands.empty()) {
      Error(Code::kOperandKind, made.operands.front().range,
            "a function is a call without its inputs: " + callee.name + "(…)");
      return Datum();
    }
    if (made.body != nullptr) holds(made.body->depth);
  } else {
    ReadLayerArguments(callee, call, nullptr, &function->arguments);
    if (function->arguments.is_poison) return Datum();
    if (!function->arguments.operands.empty()) {
      Error(Code::kOperandKind, function->arguments.operands.front().range,
            "a function is a call without its inputs: " + callee.name + "(…)");
      return Datum();
    }
    for (const LayerArgument& given : function->arguments.named) holds(given.datum.depth());
  }
  if (!CheckDepth(function->depth, call->range)) return Datum();
  return Datum(FunctionPtr(std::move(function)));
}

Datum Elaborator::ReadFunction(const ast::Expr* expr) {
  while (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(expr)) {
    expr = parenthesis->inner;
  }
  if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) return FunctionOf(call);
  if (const auto* text = llvm::dyn_cast<ast::StringExpr>(expr)) {
    return FunctionNamed(text->value, text->range);
  }
  if (const auto* name = llvm::dyn_cast<ast::NameExpr>(expr)) {
    if (auto found = frame_->instances.find(name->name); found != frame_->instances.end()) {
      return found->second == nullptr ? Datum() : Datum(found->second);
    }
    if (!frame_->scope.contains(name->name)) {
      const Callee callee = FindCallee(name->name);
      if (callee.op != nullptr || callee.is_network()) {
        Error(Code::kOperandKind, name->range,
              "a function is written as a call: " + name->name + "()");
        return Datum();
      }
    }
  }
  const Datum datum = Evaluate(expr);
  if (datum.holds_poison() || datum.is<Datum::None>() || datum.is<Datum::FunctionValue>()) {
    return datum;
  }
  Error(Code::kAttributeType, expr->range,
        "wanted a function such as relu() or fc(size=10), got " + datum.Phrase());
  return Datum();
}

Datum Elaborator::EvaluateFor(const ast::Type* type, const ast::Expr* expr) {
  const ast::TypeTerm& term = type->terms.front();
  const bool is_function = term.name.text == "function";
  if (term.has_dims) return Evaluate(expr);
  if (is_function && !term.is_list) return ReadFunction(expr);
  const auto* list = llvm::dyn_cast<ast::ListExpr>(expr);
  if (is_function && list != nullptr) {
    std::vector<Datum> items;
    for (const ast::Argument& item : list->items) {
      if (!item.is_spread) {
        items.push_back(ReadFunction(item.value));
        continue;
      }
      const Datum spread = Evaluate(item.value);
      if (const auto* more = spread.list()) {
        if (!MayGrow(items.size(), more->size(), item.value->range)) return Datum();
        items.insert(items.end(), more->begin(), more->end());
      }
    }
    return MakeList(std::move(items), expr->range);
  }
  return Evaluate(expr);
}

Elaborator::FunctionPtr Elaborator::MakeInstance(const FunctionPtr& function, std::string path) {
  if (function == nullptr || !function->path.empty() || !function->callee.is_network()) {
    return function;
  }
  auto instance = std::make_shared<Function>(*function);
  instance->path = std::move(path);
  return instance;
}

Elaborator::Results Elaborator::Apply(const FunctionPtr& function, const ast::CallExpr* expr,
                                      const Operand* piped, Targets targets) {
  const Callee& callee = function->callee;
  llvm::SmallVector<Operand, 2> operands;
  llvm::SmallVector<LayerArgument, 2> named;
  bool is_poison = false;
  if (piped != nullptr) operands.push_back(*piped);
  for (const ast::Argument& argument : expr->arguments) {
    Datum datum = Evaluate(argument.value);
    if (argument.is_named()) {
      const bool is_input =
          (callee.op != nullptr && callee.op->signature.FindInput(argument.name.text) >= 0) ||
          (callee.is_network() && callee.layer == nullptr) ||
          (callee.layer != nullptr && FindParameter(callee, argument.name.text) != nullptr &&
           FindParameter(callee, argument.name.text)->type->is_tensor());
      if (!is_input) {
        Error(Code::kOperandKind, argument.name.range,
              "'" + file_->Text(expr->callee->range) +
                  "' is a function: its attributes are settled where it is made");
        is_poison = true;
        continue;
      }
      if (callee.is_network()) {
        is_poison |= datum.holds_poison();
        named.push_back({argument.name, std::move(datum), argument.value->range});
        continue;
      }
    }
    if (argument.is_spread && datum.list() != nullptr) {
      if (!SpendItems(datum.list()->size(), argument.value->range)) return {};
      for (const Datum& item : *datum.list()) operands.push_back({item, argument.value->range});
      continue;
    }
    operands.push_back({std::move(datum), argument.value->range});
  }
  for (const Operand& operand : operands) is_poison |= operand.datum.holds_poison();
  if (is_poison) {
    if (!function->path.empty()) spoiled_ways_.insert(function->path);
    return {};
  }

  if (callee.op != nullptr) {
    Call call = function->call;
    call.place = expr->callee->range;
    call.operands = std::move(operands);
    return ResultsOf(Emit(call, targets));
  }
  if (callee.is_network()) {
    LayerArguments arguments = function->arguments;
    arguments.place = expr->callee->range;
    arguments.operands = std::move(operands);
    arguments.named.append(named.begin(), named.end());
    const bool is_instance = !function->path.empty();
    const std::string way = is_instance ? function->path : TakeWay(callee.name, !targets.empty());
    return CallLayer(callee, arguments, way, is_instance || frame_->is_instance, function->active,
                     targets);
  }
  // The identity.
  Results results;
  if (operands.size() != 1) {
    Error(Code::kOperandCount, expr->range,
          "'" + file_->Text(expr->callee->range) +
              "' is none here, which gives back its one "
              "argument, got " +
              llvm::Twine(operands.size()));
    return results;
  }
  results.all.push_back({"", operands.front().datum, operands.front().range});
  return results;
}

// ---------------------------------------------------------------------------------------------
// {weight_decay=1e-4}

Datum Elaborator::ReadRecord(const ast::Expr* expr) {
  const auto* record = llvm::cast<ast::RecordExpr>(expr);
  auto result = std::make_shared<ParameterRecord>();
  auto number = [](llvm::StringRef name, double fallback) {
    AttributeDecl decl;
    decl.name = name.str();
    decl.kind = AttributeKind::kFloat;
    decl.default_value = fallback;
    decl.lower = Bound{0, false};
    return decl;
  };
  AttributeDecl decay = number("weight_decay", 0);
  decay.upper = Bound{1, false};
  AttributeDecl trainable;
  trainable.name = "trainable";
  trainable.kind = AttributeKind::kBool;
  trainable.default_value = true;
  const std::vector<AttributeDecl> decls = {decay, number("gradient_clipping", 0),
                                            number("lr_scale", 1), trainable};
  bool ok = true;
  for (size_t i = 0; i < record->fields.size(); ++i) {
    const ast::Argument& field = record->fields[i];
    const llvm::StringRef name = field.name.text;
    for (size_t j = 0; j < i; ++j) {
      if (record->fields[j].name.text != name) continue;
      Error(Code::kRedefined, field.name.range, "'" + name + "' is given twice");
      ok = false;
    }
    if (name == "init") {
      const Datum init = ReadFunction(field.value);
      ok &= !init.is_poison();
      if (const auto* function = init.get<Datum::FunctionValue>()) result->init = *function;
      continue;
    }
    const auto decl = llvm::find_if(decls, [&](const AttributeDecl& d) { return d.name == name; });
    if (decl == decls.end()) {
      Error(Code::kUnknownAttribute, field.name.range,
            "a parameter has no attribute '" + name + "'" +
                DidYouMean(name,
                           {"init", "weight_decay", "gradient_clipping", "lr_scale", "trainable"}));
      Evaluate(field.value);
      ok = false;
      continue;
    }
    const std::optional<Datum> value =
        CheckAttribute(*decl, Evaluate(field.value), field.value->range, file_, "parameter");
    ok &= value.has_value();
    if (!value) continue;
    if (name == "trainable") {
      result->trainable = *value->get<bool>();
    } else {
      const double real = *value->number();
      (name == "weight_decay"        ? result->weight_decay
       : name == "gradient_clipping" ? result->gradient_clipping
                                     : result->lr_scale) = real;
    }
  }
  if (!ok) return Datum();
  return Datum(Datum::Record(std::move(result)));
}

}  // namespace pdl
