// What a network is fed, learns and keeps: input, param, state.
#include "frontend/elaborator.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/attribute_reader.h"

namespace pdl {

using ast::StatementKind;

void Elaborator::ElaborateInput(const ast::InputStatement* statement) {
  const bool is_new = Declare(statement->name);
  std::optional<Type> type = ReadType(statement->type, /*introduces=*/true);
  if (!type || !is_new) return Poison(statement->name);
  Value* value =
      graph_.AddInput(statement->name.text, std::move(*type), LocationAt(statement->range.begin));
  graph_.SetComment(value, statement->doc.str());
  scope_[statement->name.text] = Datum(value);
  for (const ast::Expr* condition : statement->where) {
    std::vector<DimCheck> checks;
    bool failed = false;
    if (!ReadCondition(condition, &checks, &failed)) continue;
    if (failed) {
      Error(Code::kAssertion, condition->range, "no input can keep this");
      continue;
    }
    for (DimCheck& check : checks) {
      graph_.AddConstraint({std::move(check), LocationAt(condition->range.begin)});
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
  for (const auto& entry : symbols_) {
    if (solvable.contains(entry.first())) continue;
    Error(Code::kUnsolvableSymbol, entry.second,
          "no input says what " + entry.first() + " is: give one a dim such as " + entry.first() +
              " or 2*" + entry.first());
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
  info->weight = WeightRef{text(0)->value.str(), text(1)->value.str(), ""};
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
                                 VariableInfo* info) {
  const auto* call = llvm::dyn_cast<ast::CallExpr>(statement->initial);
  if (call == nullptr) {
    Error(Code::kBadInitializer, statement->initial->range,
          "wanted an initializer such as zeros(), normal(std=0.02) or "
          "load(\"file.safetensors\", \"name\")");
    return false;
  }
  const auto* callee = llvm::dyn_cast<ast::NameExpr>(call->callee);
  if (callee != nullptr && callee->name == "load") return ReadLoad(call, type, info);
  Call initializer;
  initializer.def = ResolveCallee(call);
  if (initializer.def == nullptr) return false;
  const OpSignature& signature = initializer.def->signature;
  if (!signature.inputs.empty()) {
    Error(Code::kBadInitializer, call->callee->range,
          "'" + signature.name + "' is no initializer: it takes inputs");
    return false;
  }
  initializer.place = call->callee->range;
  BindArguments(call, nullptr, &initializer);
  if (initializer.is_poison) return false;
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
    if (decl.kind == AttributeKind::kShape && decl.positional) give(decl, type.dims);
    if (decl.kind == AttributeKind::kDType) give(decl, type.dtype);
  }
  initializer.block = graph_.AddBlock();
  base_ = statement->name.text.str();
  Op* op = Emit(initializer, {});
  if (op == nullptr) return false;
  const Type& made = op->result()->type();
  if (made.dtype != type.dtype || made.dims != type.dims) {
    Error(Code::kBadInitializer, call->range,
          "the initializer makes " + made.ToString() + ", declared " + type.ToString());
    return false;
  }
  graph_.SetBlockOutputs(initializer.block, {op->result()});
  info->initializer = initializer.block;
  return true;
}

bool Elaborator::ReadParameterAttributes(const ast::Expr* with, VariableInfo* info) {
  const auto* record = llvm::dyn_cast<ast::RecordExpr>(with);
  if (record == nullptr) {
    Error(Code::kBadInitializer, with->range, "wanted a record such as {weight_decay=1e-4}");
    return false;
  }
  auto number = [](llvm::StringRef name, double fallback) {
    AttributeDecl decl;
    decl.name = name.str();
    decl.kind = AttributeKind::kFloat;
    decl.default_value = fallback;
    decl.lower = Bound{0, false};
    return decl;
  };
  OpDef def;
  def.signature.name = "parameter";
  def.signature.attributes = {number("weight_decay", 0), number("gradient_clipping", 0),
                              number("lr_scale", 1)};
  def.signature.attributes[0].upper = Bound{1, false};
  AttributeDecl trainable;
  trainable.name = "trainable";
  trainable.kind = AttributeKind::kBool;
  trainable.default_value = true;
  def.signature.attributes.push_back(trainable);

  Call call;
  call.def = &def;
  call.place = record->range;
  bool ok = true;
  for (const ast::Argument& field : record->fields) {
    if (field.name.text == "init") {
      NotYet(field.name.range, "'init' in a record is");
      ok = false;
      continue;
    }
    const int index = def.signature.FindAttribute(field.name.text);
    if (index < 0) {
      Error(Code::kUnknownAttribute, field.name.range,
            "a parameter has no attribute '" + field.name.text + "'" +
                DidYouMean(field.name.text,
                           {"weight_decay", "gradient_clipping", "lr_scale", "trainable"}));
      ok = false;
      continue;
    }
    BindAttribute(def.signature.attributes[index], field, &call);
  }
  if (call.is_poison || !ok) return false;
  llvm::Expected<std::vector<AttributeValue>> values =
      CompleteAttributes(def.signature, call.attributes);
  if (!values) {
    ReportCallError(values.takeError(), call);
    return false;
  }
  info->weight_decay = std::get<double>((*values)[0]);
  info->gradient_clipping = std::get<double>((*values)[1]);
  info->lr_scale = std::get<double>((*values)[2]);
  info->trainable = std::get<bool>((*values)[3]);
  return true;
}

void Elaborator::ElaborateVariable(const ast::VariableStatement* statement) {
  const bool is_param = statement->kind == StatementKind::kParam;
  bool ok = Declare(statement->name);
  const std::optional<Type> type = ReadType(statement->type, /*introduces=*/false);
  VariableInfo info;
  if (statement->with != nullptr) ok &= ReadParameterAttributes(statement->with, &info);
  if (!type) return Poison(statement->name);
  if (is_param) {
    for (const Dim& dim : type->dims) {
      if (dim.is_constant()) continue;
      Error(Code::kUnknownSize, statement->type->range,
            "the sizes of a parameter are known while compiling; " + dim.ToString() + " is not");
      return Poison(statement->name);
    }
  }
  ok &= ReadInitializer(statement, *type, &info);
  if (!ok) return Poison(statement->name);
  const LocationId location = LocationAt(statement->range.begin);
  Value* value = is_param
                     ? graph_.AddParameter(statement->name.text, *type, std::move(info), location)
                     : graph_.AddState(statement->name.text, *type, std::move(info), location);
  graph_.SetComment(value, statement->doc.str());
  scope_[statement->name.text] = Datum(value);
}

}  // namespace pdl
