// What a network is fed, learns and keeps: input, param, state.
#include "frontend/elaborator.h"
#include "frontend/sugar.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/attribute_reader.h"

namespace pdl {

using ast::StatementKind;

void Elaborator::ElaborateInput(const ast::InputStatement* statement) {
  const bool is_new = Declare(statement->name);
  if (frame_->arguments != nullptr) {  // of a file that is called
    const LayerArguments& arguments = *frame_->arguments;
    const Operand* given = nullptr;
    Operand named;
    if (frame_->next_operand < arguments.operands.size()) {
      given = &arguments.operands[frame_->next_operand++];
    }
    for (const LayerArgument& argument : arguments.named) {
      if (argument.name.text != statement->name.text) continue;
      named = {argument.datum, argument.range};
      given = &named;
    }
    if (given == nullptr) {
      // An input that nothing needs may be left out.
      frame_->missing_input = statement->name.text.str();
      return Poison(statement->name);
    }
    std::optional<Datum> bound = BindInput(statement->type, statement->name.text, *given, nullptr);
    if (!bound) return Poison(statement->name);
    Assign(statement->name.text, std::move(*bound));
    CheckCallerKeeps(statement->where);
    return;
  }
  std::optional<Type> type = ReadType(statement->type, /*introduces=*/true);
  if (!type || !is_new) return Poison(statement->name);
  // What an `if` has left behind has the name too, even where the text cannot use it.
  if (graph_.FindValue(statement->name.text) != nullptr) {
    Error(Code::kRedefined, statement->name.range,
          "'" + statement->name.text + "' is defined already");
    return Poison(statement->name);
  }
  Value* value =
      graph_.AddInput(statement->name.text, std::move(*type), LocationAt(statement->range.begin));
  graph_.SetComment(value, statement->doc.str());
  Assign(statement->name.text, Datum(value));
  for (const ast::Expr* condition : statement->where) {
    std::vector<DimCheck> checks;
    bool failed = false;
    if (!ReadCondition(condition, &checks, &failed)) continue;
    if (failed) {
      Error(Code::kAssertion, condition->range, "no input can keep this");
      continue;
    }
    for (DimCheck& check : checks) {
      AddConstraint(std::move(check), LocationAt(condition->range.begin));
    }
  }
}

// A symbol that only stands in `N*M` cannot be found from what is fed.
void Elaborator::CheckSymbolsSolvable() {
  llvm::StringSet<> solvable;
  for (const Value* input : graph_.inputs()) {
    for (const Dim& dim : input->type().dims) {
      llvm::Expected<std::optional<std::pair<std::string, int64_t>>> solution = dim.Solve(0);
      const bool is_linear = !solution || solution->has_value();
      if (!solution) llvm::consumeError(solution.takeError());
      if (is_linear) dim.ForEachSymbol([&](llvm::StringRef symbol) { solvable.insert(symbol); });
    }
  }
  if (diagnostics_->has_errors()) return;
  std::vector<std::pair<SourceRange, llvm::StringRef>> unsolvable;
  for (const auto& entry : frame_->symbols) {
    if (solvable.contains(entry.first()) || entry.second.value.is<DType>()) continue;
    unsolvable.emplace_back(entry.second.range, entry.first());
  }
  llvm::sort(unsolvable,
             [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  uint32_t last_line = 0;
  for (const auto& [range, symbol] : unsolvable) {
    // Two in one dim are one mistake.
    const uint32_t line = file_->LineOf(range.begin);
    if (std::exchange(last_line, line) == line) continue;
    Error(Code::kUnsolvableSymbol, range,
          "no input says what " + symbol + " is: give one a dim such as " + symbol + " or 2*" +
              symbol);
  }
}

// load("file.safetensors", "name")
bool Elaborator::ReadLoad(const ast::CallExpr* load, const Type& type, VariableInfo* info) {
  const llvm::ArrayRef<ast::Argument> arguments = load->arguments;
  const auto text = [&](size_t i) -> const ast::StringExpr* {
    if (i >= arguments.size() || arguments[i].is_named() || arguments[i].is_spread) return nullptr;
    return llvm::dyn_cast<ast::StringExpr>(arguments[i].value);
  };
  if (arguments.size() != 2 || text(0) == nullptr || text(1) == nullptr) {
    Error(Code::kBadInitializer, load->range,
          "load takes two texts: load(\"file.safetensors\", \"name\")");
    return false;
  }
  info->weight = WeightRef{frame_->module->folder + text(0)->value.str(), text(1)->value.str(), ""};
  if (!request_.find_weight) return true;
  llvm::Expected<WeightInfo> found = request_.find_weight(info->weight->file, info->weight->tensor);
  if (!found) {
    llvm::handleAllErrors(
        found.takeError(),
        [&](const UserError& e) {
          const bool is_name = e.code() == Code::kWeightMismatch;
          // A file that cannot be read is one mistake, however many tensors it should have.
          if (!is_name && !unreadable_files_.insert(text(0)->value).second) return;
          Error(e.code(), text(is_name ? 1 : 0)->range, e.text());
        },
        [&](const llvm::ErrorInfoBase& e) { Error(Code::kBadFile, text(0)->range, e.message()); });
    return false;
  }
  Type loaded(found->dtype, Shape(found->sizes.begin(), found->sizes.end()));
  if (loaded.dtype != type.dtype || loaded.dims != type.dims) {
    Error(Code::kWeightMismatch, text(1)->range,
          "'" + text(1)->value + "' in \"" + text(0)->value + "\" is " + loaded.ToString() +
              ", declared " + type.ToString());
    return false;
  }
  info->weight->sha256 = std::move(found->sha256);
  return true;
}

bool Elaborator::ReadInitializer(const ast::VariableStatement* statement, const Type& type,
                                 const FunctionPtr& init, VariableInfo* info) {
  const auto* call = llvm::dyn_cast<ast::CallExpr>(statement->initial);
  const auto* name = call == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(call->callee);
  if (init == nullptr && name != nullptr && name->name == "load") return ReadLoad(call, type, info);
  FunctionPtr function = init;
  if (function == nullptr) {
    if (call == nullptr) {
      Error(Code::kBadInitializer, statement->initial->range,
            "wanted an initializer such as zeros(), normal(std=0.02) or "
            "load(\"file.safetensors\", \"name\")");
      return false;
    }
    const Datum datum = FunctionOf(call);
    if (datum.is_poison()) return false;
    if (const auto* given = datum.get<Datum::FunctionValue>()) function = *given;
  }
  if (function == nullptr || function->callee.op == nullptr ||
      !function->callee.op->signature.inputs.empty()) {
    const SourceRange range = call == nullptr ? statement->initial->range : call->callee->range;
    Error(Code::kBadInitializer, range,
          "'" + (function == nullptr ? file_->Text(range) : function->callee.name) +
              "' is no initializer: " +
              (function != nullptr && function->callee.is_network() ? "it is a layer"
                                                                    : "it takes inputs"));
    return false;
  }
  Call initializer = function->call;
  const OpSignature& signature = initializer.def->signature;
  if (initializer.attribute_file == file_) initializer.attribute_file = nullptr;
  if (init != nullptr) initializer.place = statement->initial->range;
  // The declared type gives the dims and the dtype.
  auto give = [&](const AttributeDecl& decl, AttributeValue value) {
    if (llvm::any_of(initializer.attributes,
                     [&](const NamedAttribute& given) { return given.name == decl.name; })) {
      return;
    }
    initializer.attributes.push_back({decl.name, std::move(value)});
    initializer.places.push_back({{}, statement->type->range, nullptr, {}});
  };
  for (const AttributeDecl& decl : signature.attributes) {
    if (decl.is_list) continue;
    if (decl.kind == AttributeKind::kShape && decl.name == sugar::kDims) give(decl, type.dims);
    if (decl.kind == AttributeKind::kDType) give(decl, type.dtype);
  }
  // So literals are of that dtype.
  for (auto [given, place] : llvm::zip_equal(initializer.attributes, initializer.places)) {
    if (place.literal.is_poison()) continue;
    const AttributeDecl& decl = signature.attributes[signature.FindAttribute(given.name)];
    llvm::Expected<AttributeValue> value =
        ToAttribute(place.literal, decl, LiteralDType(decl, initializer));
    if (value) {
      given.value = std::move(*value);
    } else {
      Error(Code::kAttributeType, place.value,
            "attribute '" + decl.name + "' of '" + initializer.def->name() + "' " +
                llvm::toString(value.takeError()));
      return false;
    }
  }
  initializer.block = graph_.AddBlock();
  frame_->base = statement->name.text.str();
  Op* op = Emit(initializer, {});
  if (op == nullptr) return false;
  const Type& made = op->result()->type();
  if (made.dtype != type.dtype || made.dims != type.dims) {
    Error(Code::kBadInitializer, statement->initial->range,
          "the initializer makes " + made.ToString() + ", declared " + type.ToString());
    return false;
  }
  graph_.SetBlockOutputs(initializer.block, {op->result()});
  info->initializer = initializer.block;
  return true;
}

bool Elaborator::ReadParameterAttributes(const ast::Expr* with, VariableInfo* info,
                                         FunctionPtr* init) {
  const Datum datum = Evaluate(with);
  if (datum.holds_poison()) return false;
  const auto* record = datum.get<Datum::Record>();
  if (record == nullptr) {
    Error(Code::kBadInitializer, with->range, "wanted a record such as {weight_decay=1e-4}");
    return false;
  }
  const ParameterRecord& given = **record;
  if (given.weight_decay) info->weight_decay = *given.weight_decay;
  if (given.gradient_clipping) info->gradient_clipping = *given.gradient_clipping;
  if (given.lr_scale) info->lr_scale = *given.lr_scale;
  if (given.trainable) info->trainable = *given.trainable;
  *init = given.init;
  return true;
}

Value* Elaborator::CurrentState(Value* state) {
  auto found = current_.find(state);
  return found == current_.end() ? state : found->second;
}

Value* Elaborator::FindShared(const ast::VariableStatement* statement, const Type& type,
                              bool* is_mistake) {
  if (!frame_->is_instance) return nullptr;
  Value* value = graph_.FindValue(FullName(statement->name.text) + frame_->counts);
  if (value == nullptr) return nullptr;
  const ValueKind kind =
      statement->kind == StatementKind::kParam ? ValueKind::kParameter : ValueKind::kState;
  if (value->kind() == kind && value->type() == type) return value;
  Error(Code::kSharedParameter, statement->name.range,
        "'" + value->name() + "' is " + type.ToString() + " in this call of the instance, and " +
            value->type().ToString() + " in an earlier one");
  *is_mistake = true;
  return nullptr;
}

void Elaborator::ElaborateVariable(const ast::VariableStatement* statement) {
  const bool is_param = statement->kind == StatementKind::kParam;
  const llvm::StringRef name = statement->name.text;
  bool ok = Declare(statement->name);
  const ast::TypeTerm& term = statement->type->terms.front();
  auto is_ragged = [](const ast::Dim& dim) { return dim.kind == ast::DimKind::kRagged; };
  if (term.is_sparse || llvm::any_of(term.dims, is_ragged)) {
    Error(Code::kBadType, term.range,
          llvm::Twine(is_param ? "a parameter" : "a state") + " is dense and has no ragged dims");
    return Poison(statement->name);
  }
  const std::optional<Type> type = ReadType(statement->type, /*introduces=*/false);
  VariableInfo info;
  FunctionPtr init;
  if (statement->with != nullptr) ok &= ReadParameterAttributes(statement->with, &info, &init);
  if (!type) return Poison(statement->name);
  if (!type->is_plain()) {
    Error(Code::kBadType, statement->type->range,
          llvm::Twine(is_param ? "a parameter" : "a state") + " has no ragged dims, got " +
              type->ToString());
    return Poison(statement->name);
  }
  if (is_param) {
    for (const Dim& dim : type->dims) {
      if (dim.is_constant()) continue;
      Error(Code::kUnknownSize, statement->type->range,
            "the sizes of a parameter are known while compiling; " + dim.ToString() + " is not");
      return Poison(statement->name);
    }
  }
  bool is_mistake = false;
  Value* value = FindShared(statement, *type, &is_mistake);
  if (is_mistake) return Poison(statement->name);
  if (value == nullptr) {
    ok &= ReadInitializer(statement, *type, init, &info);
    if (!ok) return Poison(statement->name);
    const LocationId location = LocationAt(statement->range.begin);
    std::string full = FullName(name) + frame_->counts;
    if (graph_.FindValue(full) != nullptr) full = graph_.NewName(full);
    value = is_param ? graph_.AddParameter(full, *type, std::move(info), location)
                     : graph_.AddState(full, *type, std::move(info), location);
    graph_.SetComment(value, statement->doc.str());
  }
  if (!is_param) {
    frame_->states[name] = value;
    value = CurrentState(value);
  }
  Assign(name, Datum(value));
}

}  // namespace pdl
