#include <climits>

#include "frontend/elaborator.h"
#include "frontend/sugar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/attribute_reader.h"

namespace pdl {

const OpDef* Elaborator::FindOperator(llvm::StringRef name) {
  auto [entry, is_new] = operators_.try_emplace(name, nullptr);
  if (is_new) entry->second = request_.registry->Find(name);
  return entry->second;
}

Callee Elaborator::FindCallee(llvm::StringRef name) {
  Callee callee;
  callee.name = name;
  if (name.contains('.')) {
    const auto [net, layer] = name.split('.');
    auto named = frame_->module->named.find(net);
    if (named == frame_->module->named.end() || named->second == nullptr) return callee;
    auto found = named->second->layers.find(layer);
    if (found == named->second->layers.end()) return callee;
    callee.layer = found->second;
    callee.module = named->second;
    return callee;
  }
  if (auto found = frame_->instances.find(name); found != frame_->instances.end()) {
    callee.function = found->second;
    return callee;
  }
  if (auto found = frame_->scope.find(name); found != frame_->scope.end()) {
    if (const auto* function = found->second.get<Datum::FunctionValue>()) {
      callee.function = *function;
      return callee;
    }
  }
  Module* module = frame_->module;
  if (auto found = module->layers.find(name); found != module->layers.end()) {
    callee.layer = found->second;
    callee.module = module;
  } else if (auto named = module->named.find(name); named != module->named.end()) {
    callee.module = named->second;
  } else if (auto imported = module->imported.find(name); imported != module->imported.end()) {
    callee.module = imported->second;
    callee.layer = imported->second->layers.lookup(name);
  } else if (auto standard = standard_layers_.find(name); standard != standard_layers_.end()) {
    callee.module = standard->second;
    callee.layer = standard->second->layers.lookup(name);
  } else {
    callee.op = FindOperator(name);
  }
  return callee;
}

bool Elaborator::IsBroken(llvm::StringRef name) const {
  if (frame_->module->lacks_import) return true;
  if (frame_->module->broken_names.contains(name)) return true;
  if (auto found = frame_->module->named.find(name.split('.').first);
      found != frame_->module->named.end() && found->second == nullptr) {
    return true;
  }
  if (auto found = frame_->scope.find(name); found != frame_->scope.end())
    return found->second.is_poison();
  auto instance = frame_->instances.find(name);
  return instance != frame_->instances.end() && instance->second == nullptr;
}

std::vector<llvm::StringRef> Elaborator::CalleeNames() {
  std::vector<llvm::StringRef> known;
  for (const OpDef* def : request_.registry->All()) known.push_back(def->signature.name);
  for (const auto& entry : standard_layers_) known.push_back(entry.first());
  for (const auto& entry : frame_->module->layers) known.push_back(entry.first());
  for (const auto& entry : frame_->module->imported) known.push_back(entry.first());
  for (const auto& entry : frame_->module->named) known.push_back(entry.first());
  for (const auto& entry : frame_->instances) known.push_back(entry.first());
  llvm::sort(known);
  return known;
}

// An example of the statement that is looked for where its first word is called.
static llvm::StringRef ExampleOfStatement(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Case("attr", "attr width: int = 256")
      .Case("input", "input x: f32[N, 784]")
      .Case("output", "output y")
      .Case("param", "param w: f32[784, 10] = xavier_uniform()")
      .Case("state", "state count: i64[] = zeros()")
      .Case("update", "update count = count + 1")
      .Default("");
}

Callee Elaborator::ResolveCallee(const ast::Expr* expr) {
  const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
  const auto* member = llvm::dyn_cast<ast::MemberExpr>(expr);
  const auto* net = member == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(member->base);
  if (name == nullptr && net == nullptr) {
    Error(Code::kOperandKind, expr->range, "what is called here is no operator's name");
    return {};
  }
  Callee callee;
  if (net != nullptr) {
    auto named = frame_->module->named.find(net->name);
    if (named == frame_->module->named.end()) {
      const auto value = frame_->scope.find(net->name);
      if (value != frame_->scope.end() && value->second.tensor() != nullptr) {
        const llvm::StringRef wanted = member->member.text;
        const Callee called = FindCallee(wanted);
        const bool is_known = called.op != nullptr || called.layer != nullptr;
        Error(Code::kUnknownOperator, member->range,
              "'" + net->name + "' is a tensor and has no methods" +
                  (is_known ? ": " + wanted.str() + "(" + net->name.str() + ")" : std::string()));
      } else if (!IsBroken(net->name)) {
        Error(Code::kUnknownOperator, net->range,
              "no file is imported as '" + net->name + "', and only a file has layers behind '.'");
      }
      return {};
    }
    if (named->second == nullptr) return {};  // its import was complained about
    callee = FindCallee(Save(net->name + "." + member->member.text));
    if (callee.is_network() || named->second->broken_names.contains(member->member.text)) {
      return callee;
    }
    std::vector<llvm::StringRef> known;
    for (const auto& entry : named->second->layers) known.push_back(entry.first());
    llvm::sort(known);
    Error(Code::kUnknownOperator, member->member.range,
          "'" + named->second->file->name() + "' has no layer '" + member->member.text + "'" +
              DidYouMean(member->member.text, known));
    return {};
  }
  callee = FindCallee(name->name);
  if (callee.op != nullptr && frame_->module->broken_names.contains(name->name)) return {};
  if (callee.op != nullptr || callee.is_network() || callee.function != nullptr) return callee;
  if (IsBroken(name->name)) return {};
  if (const llvm::StringRef example = ExampleOfStatement(name->name); !example.empty()) {
    Error(Code::kUnknownOperator, name->range,
          "'" + name->name + "' begins a statement and is not called: " + example);
    return {};
  }
  Error(Code::kUnknownOperator, name->range,
        "no operator or layer is called '" + name->name + "'" +
            DidYouMean(name->name, CalleeNames()));
  return {};
}

Elaborator::Results Elaborator::ResultsOf(Op* op) {
  Results results;
  if (op == nullptr) return results;
  const OpSignature& signature = op->def().signature;
  for (size_t i = 0; i < op->results().size(); ++i) {
    results.all.push_back({signature.output(i).name, Datum(op->results()[i]), {}});
  }
  return results;
}

std::optional<Datum> Elaborator::EvaluateBuiltin(const ast::CallExpr* expr, const Operand* piped) {
  const auto* callee = llvm::dyn_cast<ast::NameExpr>(expr->callee);
  if (callee == nullptr) return std::nullopt;
  const llvm::StringRef name = callee->name;
  const size_t count = expr->arguments.size() + (piped != nullptr ? 1 : 0);
  if (piped == nullptr && name == "params" && expr->arguments.size() == 1 &&
      !expr->arguments[0].is_named()) {
    std::vector<Value*> parameters;
    if (!ReadParameters(expr->arguments[0].value, &parameters)) return Datum();
    if (IsRepeated() && !MayGrow(0, parameters.size(), expr->range)) return Datum();
    return MakeList(std::vector<Datum>(parameters.begin(), parameters.end()), expr->range);
  }
  const bool is_query = name == "len" || name == "dims" || name == "dtype";
  const bool is_extreme = frame_->dims_first && (name == "min" || name == "max") && count == 2;
  if (!is_query && !is_extreme) return std::nullopt;
  std::vector<Operand> operands;
  if (piped != nullptr) operands.push_back(*piped);
  for (const ast::Argument& argument : expr->arguments) {
    if (argument.is_named() || argument.is_spread) return std::nullopt;
    operands.push_back({Evaluate(argument.value), argument.value->range});
    if (operands.back().datum.is_poison()) return Datum();
  }
  if (is_extreme) {
    const std::optional<Dim> a = AsDim(operands[0].datum, operands[0].range, "a size");
    const std::optional<Dim> b = AsDim(operands[1].datum, operands[1].range, "a size");
    if (!a || !b) return Datum();
    return Datum(name == "min" ? Dim::Min(*a, *b) : Dim::Max(*a, *b));
  }
  if (count != 1) {
    Error(Code::kOperandCount, callee->range,
          "'" + name + "' takes 1 input, got " + llvm::Twine(count));
    return Datum();
  }
  const Datum& operand = operands[0].datum;
  if (name == "len") {
    if (const auto* items = operand.list()) return Datum(static_cast<int64_t>(items->size()));
    Error(Code::kOperandKind, operands[0].range, "'len' takes a list, got " + operand.Phrase());
    return Datum();
  }
  Value* tensor = operand.tensor();
  if (tensor == nullptr) {
    Error(Code::kOperandKind, operands[0].range,
          "'" + name + "' takes a tensor, got " + operand.Phrase());
    return Datum();
  }
  if (name == "dtype") return Datum(tensor->type().dtype);
  std::vector<Datum> dims;
  for (const Dim& dim : tensor->type().dims) dims.push_back(Datum(dim));
  if (IsRepeated() && !MayGrow(0, dims.size(), expr->range)) return Datum();
  return MakeList(std::move(dims), expr->range);
}

// ---------------------------------------------------------------------------------------------
// Arguments

void Elaborator::AddAttribute(const AttributeDecl& decl, const Datum& datum, AttributePlace place,
                              Call* call) {
  if (datum.holds_poison() || !SpendExtent(datum, place.value)) {
    call->is_poison = true;
    return;
  }
  llvm::Expected<AttributeValue> value = ToAttribute(datum, decl, LiteralDType(decl, *call));
  if (!value) {
    Error(Code::kAttributeType, place.value,
          "attribute '" + decl.name + "' of '" + call->def->name() + "' " +
              llvm::toString(value.takeError()));
    call->is_poison = true;
    return;
  }
  if (!decl.dtype_from.empty()) place.literal = datum;
  call->attributes.push_back({decl.name, std::move(*value)});
  call->places.push_back(std::move(place));
}

// How a literal for a tensor attribute is read: as the dtype attribute that it names says.
std::optional<DType> Elaborator::LiteralDType(const AttributeDecl& decl, const Call& call) {
  if (decl.dtype_from.empty()) return std::nullopt;
  for (const NamedAttribute& given : call.attributes) {
    if (given.name != decl.dtype_from) continue;
    if (const auto* dtype = std::get_if<DType>(&given.value)) return *dtype;
  }
  const OpSignature& signature = call.def->signature;
  const int index = signature.FindAttribute(decl.dtype_from);
  const auto* dtype =
      index < 0 ? nullptr : std::get_if<DType>(&signature.attributes[index].default_value);
  return dtype == nullptr ? std::nullopt : std::optional(*dtype);
}

void Elaborator::BindAttribute(const AttributeDecl& decl, const ast::Argument& argument,
                               Call* call) {
  if (decl.kind == AttributeKind::kBlock) return BindBody(decl, argument, call);
  Datum datum;
  const auto* name = llvm::dyn_cast<ast::NameExpr>(argument.value);
  const std::optional<DType> dtype = decl.kind == AttributeKind::kDType && name != nullptr
                                         ? DTypeFromName(name->name)
                                         : std::nullopt;
  if (dtype) {
    datum = Datum(*dtype);
  } else {
    datum = decl.kind == AttributeKind::kShape ? EvaluateSize(argument.value)
                                               : Evaluate(argument.value);
  }
  AddAttribute(decl, datum, {argument.name.range, argument.value->range, argument.value, {}}, call);
}

void Elaborator::BindArguments(const ast::CallExpr* expr, const Operand* piped, Call* call) {
  const OpSignature& signature = call->def->signature;
  const size_t fixed = signature.inputs.size();
  const bool repeats = fixed > 0 && (signature.inputs.back().repeatable || signature.has_counts());
  llvm::SmallVector<const AttributeDecl*, 4> positional;
  for (const AttributeDecl& decl : signature.attributes)
    if (decl.positional) positional.push_back(&decl);
  llvm::SmallVector<const ast::Argument*, 4> named_inputs(fixed, nullptr);
  bool any_named_input = false;
  size_t next_positional = 0;
  llvm::SmallVector<std::pair<const AttributeDecl*, const ast::Argument*>, 2> tensor_attributes;

  if (piped != nullptr) {
    if (piped->datum.holds_poison()) call->is_poison = true;
    call->operands.push_back(*piped);
  }
  auto add_operand = [&](Datum datum, SourceRange range) {
    if (datum.holds_poison()) call->is_poison = true;
    call->operands.push_back({std::move(datum), range});
  };
  for (const ast::Argument& argument : expr->arguments) {
    if (argument.is_named()) {
      const int input = signature.FindInput(argument.name.text);
      if (input >= 0) {
        if (named_inputs[input] != nullptr) {
          Error(Code::kOperandCount, argument.name.range,
                "input '" + argument.name.text + "' is given twice");
          call->is_poison = true;
          continue;
        }
        named_inputs[input] = &argument;
        any_named_input = true;
        continue;
      }
      const int attribute = signature.FindAttribute(argument.name.text);
      if (attribute < 0 || signature.attributes[attribute].counted) {
        std::vector<llvm::StringRef> known;
        known.reserve(signature.attributes.size() + signature.inputs.size());
        for (const InputDecl& decl : signature.inputs) known.push_back(decl.name);
        for (const AttributeDecl& decl : signature.attributes)
          if (!decl.counted) known.push_back(decl.name);
        Error(Code::kUnknownAttribute, argument.name.range,
              "'" + signature.name + "' has no attribute or input '" + argument.name.text + "'" +
                  DidYouMeanOrTakes(argument.name.text, known));
        call->is_poison = true;
        Evaluate(argument.value);
        continue;
      }
      const AttributeDecl& decl = signature.attributes[attribute];
      // Its literal is read as a dtype that may still come.
      if (decl.kind == AttributeKind::kTensor) {
        tensor_attributes.emplace_back(&decl, &argument);
      } else {
        BindAttribute(decl, argument, call);
      }
      continue;
    }
    if (argument.is_spread) {
      Datum datum = Evaluate(argument.value);
      if (const auto* items = datum.list()) {
        if (!SpendItems(items->size(), argument.value->range)) call->is_poison = true;
        if (call->is_poison) continue;
        for (const Datum& item : *items) add_operand(item, argument.value->range);
      } else {
        if (!datum.is_poison()) {
          Error(Code::kOperandKind, argument.value->range,
                "'...' spreads a list, got " + datum.Phrase());
        }
        call->is_poison = true;
      }
      continue;
    }
    const bool is_attribute =
        !repeats && next_positional < positional.size() && call->operands.size() >= fixed;
    if (is_attribute) {
      const AttributeDecl& decl = *positional[next_positional++];
      if (decl.kind == AttributeKind::kTensor) {
        tensor_attributes.emplace_back(&decl, &argument);
      } else {
        BindAttribute(decl, argument, call);
      }
    } else {
      add_operand(Evaluate(argument.value), argument.value->range);
    }
  }
  for (const auto& [decl, argument] : tensor_attributes) BindAttribute(*decl, *argument, call);
  if (signature.has_counts()) return BindCounted(named_inputs, call);
  if (!any_named_input) return LeaveOutInputs(call);

  // Inputs by name follow those by position, without a gap.
  const size_t given = call->operands.size();
  size_t last = 0;
  for (size_t i = 0; i < fixed; ++i) {
    if (named_inputs[i] != nullptr) last = i;
  }
  for (size_t i = 0; i < fixed; ++i) {
    const ast::Argument* argument = named_inputs[i];
    if (i < given) {
      if (argument == nullptr) continue;
      Error(Code::kOperandCount, argument->name.range,
            "input '" + argument->name.text + "' is given twice: by position and by name");
      call->is_poison = true;
    } else if (argument != nullptr) {
      Datum datum = Evaluate(argument->value);
      const auto* items = datum.list();
      if (items != nullptr && signature.inputs[i].repeatable && datum.holds_tensor()) {
        for (const Datum& item : *items) add_operand(item, argument->value->range);
      } else {
        add_operand(std::move(datum), argument->value->range);
      }
    } else if (i < last) {
      call->operands.push_back({Datum::NoneValue(), call->place});
    }
  }
  LeaveOutInputs(call);
}

// Inputs that are left out behind the last one given are no operands; before it, the number that
// the operator declares stands for them.
void Elaborator::LeaveOutInputs(Call* call) {
  const OpSignature& signature = call->def->signature;
  const size_t fixed = signature.inputs.size();
  llvm::SmallVectorImpl<Operand>& operands = call->operands;
  auto is_left_out = [&](size_t i) {
    return i < fixed && signature.inputs[i].optional && operands[i].datum.is<Datum::None>();
  };
  while (!operands.empty() && is_left_out(operands.size() - 1)) operands.pop_back();
  for (size_t i = 0; i < std::min(operands.size(), fixed); ++i) {
    const InputDecl& input = signature.inputs[i];
    if (is_left_out(i) && input.stand_in) {
      operands[i].datum = Datum(*input.stand_in);
    } else if (operands[i].datum.is<Datum::None>()) {
      Error(Code::kOperandCount, operands[i].range,
            "input '" + input.name + "' of '" + signature.name + "' is missing");
      call->is_poison = true;
      return;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The call

Elaborator::Results Elaborator::EvaluateCall(const ast::CallExpr* expr, const Operand* piped,
                                             Targets targets) {
  if (const auto* callee = llvm::dyn_cast<ast::NameExpr>(expr->callee);
      callee != nullptr && callee->name == "grad") {
    return EvaluateGrad(expr, piped, targets);
  }
  if (std::optional<Datum> builtin = EvaluateBuiltin(expr, piped)) {
    Results results;
    if (!builtin->is_poison()) results.all.push_back({"", std::move(*builtin), expr->range});
    return results;
  }
  const Callee callee = ResolveCallee(expr->callee);
  if (callee.function != nullptr) return Apply(callee.function, expr, piped, targets);
  if (callee.is_network()) {
    LayerArguments arguments;
    ReadLayerArguments(callee, expr, piped, &arguments);
    const std::string way = TakeWay(
        callee.name.rsplit('.').second.empty() ? callee.name : callee.name.rsplit('.').second,
        !targets.empty());
    return CallLayer(callee, arguments, way, frame_->is_instance, frame_->active, targets);
  }
  if (callee.op == nullptr) {
    // What stands inside may have mistakes of its own.
    for (const ast::Argument& argument : expr->arguments) {
      if (argument.value->kind != ast::ExprKind::kRecord) Evaluate(argument.value);
    }
    return {};
  }
  Call call;
  call.def = callee.op;
  call.place = expr->callee->range;
  BindArguments(expr, piped, &call);
  return ResultsOf(Emit(call, targets));
}

llvm::SmallVector<std::string, 1> Elaborator::ResultNames(const OpSignature& signature,
                                                          size_t num_results, Targets targets) {
  llvm::SmallVector<std::string, 1> names;
  const std::string& base = frame_->base;
  for (size_t i = 0; i < num_results; ++i) {
    if (i < targets.size() && targets[i] != "_") {
      const std::string& target = targets[i];
      names.push_back(graph_.FindValue(target) == nullptr ? target : graph_.NewName(target));
    } else if (i == 0 && targets.empty()) {
      names.push_back(
          graph_.NewName(FullName(base.empty() ? signature.name : base + "_" + signature.name)));
    } else {
      std::string name =
          FullName((base.empty() ? signature.name : base) + "_" + signature.output(i).name);
      // A repeated output has one name for all that it gives.
      if (llvm::is_contained(names, name)) name += "_" + std::to_string(i + 1);
      names.push_back(graph_.NewName(name));
    }
  }
  return names;
}

Op* Elaborator::Emit(Call& call, Targets targets) {
  if (call.is_poison) return nullptr;
  if (call.def == nullptr) {
    Error(Code::kUnknownOperator, call.place, "this program has no operator for this sign");
    return nullptr;
  }
  const OpSignature& signature = call.def->signature;
  auto input_of = [&](size_t operand) -> const InputDecl* {
    if (signature.inputs.empty()) return nullptr;
    if (!call.counts.empty()) {
      size_t input = 0;
      for (; input + 1 < call.counts.size() && operand >= call.counts[input]; ++input)
        operand -= call.counts[input];
      return &signature.inputs[input];
    }
    return &signature.inputs[std::min(operand, signature.inputs.size() - 1)];
  };
  // Literals take the dtype of the first tensor beside them. The truth values of a sparse one only
  // say where something is.
  std::optional<DType> beside;
  for (size_t i = 0; i < call.operands.size() && !beside; ++i) {
    Value* tensor = call.operands[i].datum.tensor();
    if (tensor == nullptr || (input_of(i) != nullptr && input_of(i)->own_dtype)) continue;
    const Type& type = tensor->type();
    if (!type.is_sparse() || type.dtype != DType::kBool) beside = type.dtype;
  }
  // Among literals alone one that is no integer makes all of them floats.
  bool has_int = false, has_float = false;
  for (size_t i = 0; call.operands.size() > 1 && i < call.operands.size() && !beside; ++i) {
    const Datum& datum = call.operands[i].datum;
    const bool is_empty = datum.list() != nullptr && datum.list()->empty();
    if (!datum.is_literal() || is_empty || (input_of(i) != nullptr && input_of(i)->own_dtype))
      continue;
    const DType natural = NaturalDType(datum);
    has_int |= natural == DType::kI64;
    has_float |= natural == DType::kF32;
  }
  if (has_int && has_float) beside = DType::kF32;
  llvm::SmallVector<Value*, 4> operands;
  bool ok = true;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    Operand& operand = call.operands[i];
    if (Value* tensor = operand.datum.tensor()) {
      operands.push_back(tensor);
      continue;
    }
    const InputDecl* input = input_of(i);
    std::optional<DType> dtype;
    if (input == nullptr || !input->own_dtype) dtype = beside;
    const bool is_size = operand.datum.is<Dim>();
    if (!dtype && (is_size || operand.datum.is_literal())) {
      dtype = is_size ? DType::kI64 : NaturalDType(operand.datum);
      if (input != nullptr && *dtype == DType::kI64 && !input->dtypes.Contains(*dtype) &&
          input->dtypes.Contains(DType::kF32)) {
        dtype = DType::kF32;
      }
    }
    Value* tensor = AsTensor(operand.datum, operand.range, dtype, {});
    ok &= tensor != nullptr;
    operands.push_back(tensor);
    if (tensor != nullptr) operand.datum = Datum(tensor);
  }
  if (!ok || !SpendCalls(1, call.place)) return nullptr;
  if (call.body != nullptr && !ElaborateBody(call, operands, targets)) return nullptr;
  for (Value*& operand : operands) operand = InBody(operand);
  CallOptions options;
  options.location = LocationAt(call.place.begin);
  options.block = call.block.index == 0 && body_ != nullptr ? body_->block : call.block;
  options.recompute = frame_->recompute;
  if (!frame_->path.empty()) options.layer_path = llvm::StringRef(frame_->path).drop_back().str();
  llvm::Expected<std::vector<AttributeValue>> values =
      CompleteAttributes(signature, call.attributes);
  if (!values) {
    ReportCallError(values.takeError(), call);
    return nullptr;
  }
  const auto names = ResultNames(signature, signature.NumResults(*values), targets);
  llvm::Expected<Op*> op =
      graph_.AddOpWithValues(*call.def, operands, std::move(*values), names, std::move(options));
  if (op) return *op;
  ReportCallError(op.takeError(), call);
  return nullptr;
}

Value* Elaborator::EmitSize(const Dim& size, SourceRange range, DType dtype, Targets targets) {
  Call call;
  call.def = FindOperator(sugar::kSize);
  call.place = range;
  if (call.def != nullptr) {
    for (const AttributeDecl& decl : call.def->signature.attributes) {
      if (decl.kind == AttributeKind::kShape) call.attributes.push_back({decl.name, Shape{size}});
      if (decl.kind == AttributeKind::kDType) call.attributes.push_back({decl.name, dtype});
    }
  }
  call.places.resize(call.attributes.size(), {{}, range, nullptr, {}});
  Op* op = Emit(call, targets);
  return op == nullptr ? nullptr : op->result();
}

Value* Elaborator::EmitConstant(Constant constant, SourceRange range, Targets targets) {
  if (!SpendCalls(1, range)) return nullptr;
  Call call;
  call.def = FindOperator(sugar::kConstant);
  call.place = range;
  if (call.def == nullptr) {
    Emit(call, targets);
    return nullptr;
  }
  const OpSignature& signature = call.def->signature;
  const AttributeDecl& decl = signature.attributes[signature.PositionalAttribute()];
  if (!decl.dtype_from.empty()) {
    call.attributes.push_back({decl.dtype_from, constant.dtype()});
    call.places.push_back({{}, range, nullptr, {}});
  }
  call.attributes.push_back({decl.name, std::move(constant)});
  call.places.push_back({{}, range, nullptr, {}});
  CallOptions options;
  options.location = LocationAt(range.begin);
  if (body_ != nullptr) options.block = body_->block;
  if (!frame_->path.empty()) options.layer_path = llvm::StringRef(frame_->path).drop_back().str();
  llvm::SmallVector<std::string, 1> names;
  if (!targets.empty()) {
    names = ResultNames(signature, 1, targets);
  } else {
    names.push_back(graph_.NewName(FullName(frame_->base.empty() ? "c" : frame_->base + "_c")));
  }
  llvm::Expected<Op*> op = graph_.AddOp(*call.def, {}, call.attributes, names, std::move(options));
  if (op) return (*op)->result();
  ReportCallError(op.takeError(), call);
  return nullptr;
}

}  // namespace pdl
