#include "frontend/elaborate/layer_inputs.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/type_matcher.h"

namespace pdl {

bool LayerInputs::BindLayerInputs(const ast::LayerStatement* layer,
                                  const LayerArguments& arguments) {
  size_t next = 0;
  size_t declared = 0;
  for (const ast::Parameter& parameter : layer->parameters) {
    if (!parameter.type->is_tensor()) continue;
    ++declared;
    llvm::SmallVector<Operand, 4> given;
    if (!TakeOperands(parameter, arguments, &next, &given)) return false;
    const bool ok =
        parameter.is_repeatable ? BindRepeatable(parameter, given) : BindSingle(parameter, given);
    if (!ok) return false;
  }
  if (next >= arguments.operands.size()) return true;
  Diagnostic& diagnostic =
      report_.CallerError(Code::kOperandCount, arguments.operands[next].range,
                          "'" + at_.frame->callee + "' takes " + llvm::Twine(declared) +
                              (declared == 1 ? " input, got " : " inputs, got ") +
                              llvm::Twine(arguments.operands.size()));
  for (const ast::Parameter& parameter : layer->parameters) {
    if (parameter.type->is_tensor()) continue;
    diagnostic.Note("attributes are given by name: " + parameter.name.text.str() + "=…");
    break;
  }
  return false;
}

bool LayerInputs::TakeOperands(const ast::Parameter& parameter, const LayerArguments& arguments,
                               size_t* next, llvm::SmallVectorImpl<Operand>* given) {
  const llvm::StringRef name = parameter.name.text;
  const LayerArgument* named = nullptr;
  for (const LayerArgument& argument : arguments.named)
    if (argument.name.text == name) named = &argument;
  if (parameter.is_repeatable) {
    for (; *next < arguments.operands.size(); ++*next) given->push_back(arguments.operands[*next]);
  } else if (*next < arguments.operands.size()) {
    given->push_back(arguments.operands[(*next)++]);
  }
  if (named == nullptr) return true;
  if (!given->empty()) {
    report_.CallerError(Code::kOperandCount, named->name.range,
                        "input '" + name + "' is given twice: by position and by name");
    return false;
  }
  const auto* items = named->datum.list();
  if (parameter.is_repeatable && items != nullptr) {
    for (const Datum& item : *items) given->push_back({item, named->range});
  } else {
    given->push_back({named->datum, named->range});
  }
  return true;
}

bool LayerInputs::BindRepeatable(const ast::Parameter& parameter, llvm::ArrayRef<Operand> given) {
  if (given.empty()) {
    report_.CallerError(Code::kOperandCount, at_.frame->place,
                        "'" + at_.frame->callee + "' takes at least 1 input, got 0");
    return false;
  }
  std::vector<Datum> items;
  TextFrame::Repeat repeat{};
  for (const Operand& operand : given) {
    ItemSymbols own;
    at_.frame->any_dims.reset();
    std::optional<Datum> bound = BindInput(parameter.type, parameter.name.text, operand, &own);
    if (!bound) return false;
    items.push_back(std::move(*bound));
    for (const auto& entry : own) at_.frame->symbols.erase(entry.first);
    repeat.symbols.push_back(std::move(own));
    repeat.any_dims.push_back(at_.frame->any_dims);
  }
  if (given.size() > 1) at_.frame->any_dims.reset();
  const Datum list(std::move(items));
  repeat.list = list;
  at_.Observe(parameter.name.range, list);
  at_.frame->repeats.push_back(std::move(repeat));
  names_.Assign(parameter.name.text, list);
  return true;
}

bool LayerInputs::BindSingle(const ast::Parameter& parameter, llvm::ArrayRef<Operand> given) {
  const llvm::StringRef name = parameter.name.text;
  const ast::Expr* const fallback = parameter.default_value;
  const auto* word = llvm::dyn_cast_if_present<ast::WordExpr>(fallback);
  const bool is_none = given.empty() ? word != nullptr && word->word == ast::Word::kNone
                                     : given[0].datum.is<Datum::None>() && fallback != nullptr;
  if (is_none) {
    names_.Assign(name, Datum::NoneValue());
    return true;
  }
  Operand operand;
  if (!given.empty()) {
    operand = given[0];
  } else if (fallback == nullptr) {
    report_.CallerError(Code::kOperandCount, at_.frame->place,
                        "input '" + name + "' of '" + at_.frame->callee + "' is missing");
    return false;
  } else {
    const Datum datum = expressions_.Evaluate(fallback);
    if (datum.holds_poison()) return false;
    const std::optional<DType> dtype = DTypeFromName(parameter.type->terms.front().name.text);
    Value* value = literals_.AsTensor(datum, fallback->range, dtype, {});
    if (value == nullptr) return false;
    operand = {Datum(value), at_.frame->place};
  }
  std::optional<Datum> bound = BindInput(parameter.type, name, operand, nullptr);
  if (!bound) return false;
  at_.Observe(parameter.name.range, *bound);
  names_.Assign(name, std::move(*bound));
  return true;
}

std::optional<Datum> LayerInputs::BindInput(const ast::Type* type, llvm::StringRef name,
                                            const Operand& operand, ItemSymbols* item_symbols) {
  const ast::TypeTerm& first = type->terms.front();
  std::optional<DType> dtype = DTypeFromName(first.name.text);
  if (!dtype) {
    auto symbol = at_.frame->symbols.find(first.name.text);
    if (symbol != at_.frame->symbols.end() && symbol->second.value.is<DType>())
      dtype = *symbol->second.value.get<DType>();
    else if (!operand.datum.holds_tensor() && operand.datum.is_literal() &&
             NaturalDType(operand.datum) == DType::kI64)
      dtype = DType::kF32;
  }
  Value* value;
  {
    // A literal becomes a tensor in the caller.
    const PlaceScope caller(&at_, at_.frame->caller, at_.frame->caller_file);
    value = literals_.AsTensor(operand.datum, operand.range, dtype, {});
  }
  if (value == nullptr || !matcher_.Match(type, value->type(), name, operand.range, item_symbols))
    return std::nullopt;
  return Datum(value);
}

}  // namespace pdl
