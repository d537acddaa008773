#include "frontend/elaborate/argument_binder.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/reporter.h"

namespace pdl {

namespace {

/// Whether a list has bools and other items, so that it is several values, not a constant.
bool MixesBoolAndNumbers(llvm::ArrayRef<Datum> items) {
  const auto is_bool = [](const Datum& item) { return item.is<bool>(); };
  return llvm::any_of(items, is_bool) && !llvm::all_of(items, is_bool);
}

}  // namespace

/// Arguments of a call that are only bound after all of them were read.
struct ArgumentBinder::Pending {
  explicit Pending(const OpSignature& signature) : named_inputs(signature.inputs.size(), nullptr) {
    for (const AttributeDecl& decl : signature.attributes)
      if (decl.positional) positional.push_back(&decl);
  }

  llvm::SmallVector<const AttributeDecl*, 4> positional;
  size_t next_positional = 0;
  llvm::SmallVector<const ast::Argument*, 4> named_inputs;  // by input; null if not given by name
  bool any_named_input = false;
  /// Their literals have to wait for a dtype attribute, which may follow them.
  llvm::SmallVector<std::pair<const AttributeDecl*, const ast::Argument*>, 2> tensor_attributes;
};

void ArgumentBinder::BindArguments(const ast::CallExpr* expr, const Operand* piped, Call* call) {
  const OpSignature& signature = call->def->signature;
  const size_t fixed = signature.inputs.size();
  const bool repeats = fixed > 0 && (signature.inputs.back().repeatable || signature.has_counts());
  Pending pending(signature);
  if (piped != nullptr) AddOperand(piped->datum, piped->range, call);
  for (const ast::Argument& argument : expr->arguments) {
    if (argument.is_named()) {
      BindNamed(argument, &pending, call);
      continue;
    }
    if (argument.is_spread) {
      AddSpread(argument, call);
      continue;
    }
    const bool is_attribute = !repeats && pending.next_positional < pending.positional.size() &&
                              call->operands.size() >= fixed;
    if (is_attribute) {
      BindOrPostpone(*pending.positional[pending.next_positional++], argument, &pending, call);
    } else {
      AddOperand(expressions_.Evaluate(argument.value), argument.value->range, call);
    }
  }
  for (const auto& [decl, argument] : pending.tensor_attributes)
    BindAttribute(*decl, *argument, call);
  if (signature.has_counts()) return BindCounted(pending.named_inputs, call);
  if (pending.any_named_input) AddNamedInputs(pending.named_inputs, call);
  LeaveOutInputs(call);
}

void ArgumentBinder::AddOperand(Datum datum, SourceRange range, Call* call) {
  if (datum.holds_poison()) call->is_poison = true;
  call->operands.push_back({std::move(datum), range});
}

void ArgumentBinder::AddSpread(const ast::Argument& argument, Call* call) {
  const Datum datum = expressions_.Evaluate(argument.value);
  const auto* items = datum.list();
  if (items == nullptr) {
    if (!datum.is_poison()) {
      report_.Error(Code::kOperandKind, argument.value->range,
                    "'...' spreads a list, got " + datum.Phrase());
    }
    call->is_poison = true;
    return;
  }
  if (!budget_.SpendItems(items->size(), argument.value->range)) call->is_poison = true;
  if (call->is_poison) return;
  for (const Datum& item : *items) AddOperand(item, argument.value->range, call);
}

void ArgumentBinder::BindNamed(const ast::Argument& argument, Pending* pending, Call* call) {
  const OpSignature& signature = call->def->signature;
  if (const int input = signature.FindInput(argument.name.text); input >= 0) {
    if (pending->named_inputs[input] != nullptr) {
      report_.Error(Code::kOperandCount, argument.name.range,
                    "input '" + argument.name.text + "' is given twice");
      call->is_poison = true;
      return;
    }
    pending->named_inputs[input] = &argument;
    pending->any_named_input = true;
    return;
  }
  const int attribute = signature.FindAttribute(argument.name.text);
  if (attribute >= 0 && !signature.attributes[attribute].counted)
    return BindOrPostpone(signature.attributes[attribute], argument, pending, call);
  std::vector<llvm::StringRef> known;
  known.reserve(signature.attributes.size() + signature.inputs.size());
  for (const InputDecl& decl : signature.inputs) known.push_back(decl.name);
  for (const AttributeDecl& decl : signature.attributes)
    if (!decl.counted) known.push_back(decl.name);
  report_.Error(Code::kUnknownAttribute, argument.name.range,
                "'" + signature.name + "' has no attribute or input '" + argument.name.text + "'" +
                    report_.DidYouMeanOrTakes(argument.name.text, known));
  call->is_poison = true;
  expressions_.Evaluate(argument.value);
}

void ArgumentBinder::BindOrPostpone(const AttributeDecl& decl, const ast::Argument& argument,
                                    Pending* pending, Call* call) {
  if (decl.kind == AttributeKind::kTensor) {
    pending->tensor_attributes.emplace_back(&decl, &argument);
  } else {
    BindAttribute(decl, argument, call);
  }
}

// Adds inputs given by name, which must follow those given by position without a gap.
void ArgumentBinder::AddNamedInputs(llvm::ArrayRef<const ast::Argument*> named_inputs, Call* call) {
  const OpSignature& signature = call->def->signature;
  const size_t given = call->operands.size();
  size_t last = 0;
  for (size_t i = 0; i < named_inputs.size(); ++i) {
    if (named_inputs[i] != nullptr) last = i;
  }
  for (size_t i = 0; i < named_inputs.size(); ++i) {
    const ast::Argument* argument = named_inputs[i];
    if (i < given) {
      if (argument == nullptr) continue;
      report_.Error(Code::kOperandCount, argument->name.range,
                    "input '" + argument->name.text + "' is given twice: by position and by name");
      call->is_poison = true;
    } else if (argument != nullptr) {
      Datum datum = expressions_.Evaluate(argument->value);
      const auto* items = datum.list();
      if (items != nullptr && signature.inputs[i].repeatable && datum.holds_tensor()) {
        for (const Datum& item : *items) AddOperand(item, argument->value->range, call);
      } else {
        AddOperand(std::move(datum), argument->value->range, call);
      }
    } else if (i < last) {
      call->operands.push_back({Datum::NoneValue(), call->place});
    }
  }
}

void ArgumentBinder::BindAttribute(const AttributeDecl& decl, const ast::Argument& argument,
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
    datum = decl.kind == AttributeKind::kShape ? expressions_.EvaluateSize(argument.value)
                                               : expressions_.Evaluate(argument.value);
  }
  AddAttribute(decl, datum, {argument.name.range, argument.value->range, argument.value, {}}, call);
}

void ArgumentBinder::AddAttribute(const AttributeDecl& decl, const Datum& datum,
                                  AttributePlace place, Call* call) {
  if (datum.holds_poison() || !budget_.SpendExtent(datum, place.value)) {
    call->is_poison = true;
    return;
  }
  const bool may_get_dtype =
      call->is_partial && llvm::none_of(call->attributes, [&](const NamedAttribute& given) {
        return given.name == decl.dtype_from;
      });
  llvm::Expected<AttributeValue> value = ToAttribute(datum, decl, LiteralDType(decl, *call));
  if (!value && may_get_dtype && !decl.dtype_from.empty()) {
    llvm::consumeError(value.takeError());
    value = ToAttribute(datum, decl, DType::kF64);
  }
  if (!value) {
    report_.Error(Code::kAttributeType, place.value,
                  "attribute '" + decl.name + "' of '" + call->def->name() + "' " +
                      llvm::toString(value.takeError()));
    call->is_poison = true;
    return;
  }
  if (!decl.dtype_from.empty()) place.literal = datum;
  call->attributes.push_back({decl.name, std::move(*value)});
  call->places.push_back(std::move(place));
}

bool ArgumentBinder::SettleLiterals(Call* call) {
  for (auto [given, place] : llvm::zip_equal(call->attributes, call->places)) {
    if (place.literal.is_poison()) continue;
    const OpSignature& signature = call->def->signature;
    const AttributeDecl& decl = signature.attributes[signature.FindAttribute(given.name)];
    llvm::Expected<AttributeValue> value =
        ToAttribute(place.literal, decl, LiteralDType(decl, *call));
    if (!value) {
      report_.Error(Code::kAttributeType, call->place,
                    "attribute '" + decl.name + "' of '" + call->def->name() + "' " +
                        llvm::toString(value.takeError()));
      return false;
    }
    given.value = std::move(*value);
  }
  return true;
}

std::optional<DType> ArgumentBinder::LiteralDType(const AttributeDecl& decl, const Call& call) {
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

void ArgumentBinder::LeaveOutInputs(Call* call) {
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
      report_.Error(Code::kOperandCount, operands[i].range,
                    "input '" + input.name + "' of '" + signature.name + "' is missing");
      call->is_poison = true;
      return;
    }
  }
}

void ArgumentBinder::BindCounted(llvm::ArrayRef<const ast::Argument*> named_inputs, Call* call) {
  const OpSignature& signature = call->def->signature;
  call->counts.assign(signature.inputs.size(), 0);
  call->counts[0] = call->operands.size();
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const InputDecl& input = signature.inputs[i];
    const ast::Argument* argument = named_inputs[i];
    if (argument == nullptr) continue;
    if (i == 0 && call->counts[0] > 0) {
      report_.Error(Code::kOperandCount, argument->name.range,
                    "input '" + argument->name.text + "' is given twice: by position and by name");
      call->is_poison = true;
      continue;
    }
    const Datum datum = expressions_.Evaluate(argument->value);
    if (datum.holds_poison()) {
      call->is_poison = true;
      continue;
    }
    if (!input.repeatable && datum.is<Datum::None>() && input.optional) continue;
    const auto* items = datum.list();
    const auto* list = llvm::dyn_cast<ast::ListExpr>(argument->value);
    const bool is_list = input.repeatable && items != nullptr &&
                         (items->empty() || datum.holds_tensor() || MixesBoolAndNumbers(*items));
    if (!is_list) {
      call->operands.push_back({datum, argument->value->range});
      ++call->counts[i];
      continue;
    }
    for (size_t j = 0; j < items->size(); ++j) {
      const bool has_place = list != nullptr && list->items.size() == items->size();
      call->operands.push_back(
          {(*items)[j], has_place ? list->items[j].value->range : argument->value->range});
      ++call->counts[i];
    }
  }
}

void ArgumentBinder::BindBody(const AttributeDecl& decl, const ast::Argument& argument,
                              Call* call) {
  const Datum datum = functions_.ReadFunction(argument.value);
  const auto* function = datum.get<Datum::FunctionValue>();
  if (function == nullptr) {
    if (!datum.is_poison())
      report_.Error(Code::kAttributeType, argument.value->range,
                    "attribute '" + decl.name + "' of '" + call->def->name() +
                        "' must be a function such as cell(size=64), got " + datum.Phrase());
    call->is_poison = true;
    return;
  }
  call->body = *function;
  call->body_place = {argument.name.range, argument.value->range, argument.value, {}};
}

}  // namespace pdl
