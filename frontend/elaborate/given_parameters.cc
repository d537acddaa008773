#include "frontend/elaborate/given_parameters.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/type_reader.h"

namespace pdl {

/// "1 value", "2 values".
static std::string Counted(size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void GivenParameters::Read(const ast::Argument& argument, LayerArguments* arguments) {
  const Datum datum = expressions_.Evaluate(argument.value);
  const std::vector<Datum>* items = datum.list();
  if (items == nullptr || datum.holds_poison()) {
    if (!datum.holds_poison()) {
      report_.Error(Code::kAttributeType, argument.value->range,
                    "params is a list with the values of the parameters, as params(net) returns; "
                    "got " +
                        datum.Phrase());
    }
    arguments->is_poison = true;
    return;
  }
  GivenValues given{datum, at_.file, argument.value->range, {}};
  const auto* list = llvm::dyn_cast<ast::ListExpr>(ast::WithoutParentheses(argument.value));
  if (list != nullptr && list->items.size() == items->size())
    for (const ast::Argument& item : list->items) given.items.push_back(item.value->range);
  arguments->params = std::make_shared<const GivenValues>(std::move(given));
}

std::optional<ParameterValues> GivenParameters::Begin(const GivenValues& given,
                                                      llvm::StringRef callee,
                                                      llvm::StringRef path) {
  ParameterValues values;
  values.given = &given;
  values.callee = callee;
  values.prefix = path.str() + ".";
  values.frame = at_.frame;
  values.outer = at_.frame->given_parameters;
  for (const Value* parameter : graph_.parameters()) {
    if (!llvm::StringRef(parameter->name()).starts_with(values.prefix)) continue;
    values.indices.try_emplace(parameter->name(), values.indices.size());
  }
  values.is_by_name = !values.indices.empty();
  const size_t count = given.list.list()->size();
  if (!values.is_by_name || count == values.indices.size()) return values;
  Report(values, Code::kOperandCount,
         "'" + callee + "' has " + Counted(values.indices.size(), "parameter") + ", got " +
             Counted(count, "value"));
  return std::nullopt;
}

bool GivenParameters::End(const ParameterValues& values) {
  const size_t count = values.given->list.list()->size();
  if (values.is_by_name || values.indices.size() >= count) return true;
  Report(values, Code::kOperandCount,
         "'" + values.callee + "' has " + Counted(values.indices.size(), "parameter") + ", got " +
             Counted(count, "value"));
  return false;
}

std::optional<Datum> GivenParameters::Find(const std::string& parameter, const Type& type) {
  ParameterValues* values = at_.frame->given_parameters;
  while (values != nullptr && !llvm::StringRef(parameter).starts_with(values->prefix))
    values = values->outer;
  if (values == nullptr) return std::nullopt;
  const std::vector<Datum>& items = *values->given->list.list();
  const auto known = values->indices.find(parameter);
  if (known == values->indices.end() &&
      (values->is_by_name || values->indices.size() == items.size())) {
    if (!std::exchange(values->has_error, true)) {
      Report(*values, Code::kOperandCount,
             values->is_by_name
                 ? "'" + parameter + "' is created by this call and has no value in params"
                 : "params has " + Counted(items.size(), "value") + ", and none for '" + parameter +
                       "'");
    }
    return Datum();
  }
  const size_t index = known != values->indices.end() ? known->second : values->indices.size();
  values->indices.try_emplace(parameter, index);
  const SourceRange range = values->given->RangeOf(index);
  const PlaceScope place(&at_, values->frame, values->given->text);
  Value* value = literals_.AsTensor(items[index], range, type.dtype, {});
  if (value == nullptr) return Datum();
  const bool fits =
      types_.CheckType(value->type(), type, range,
                       "value " + llvm::Twine(index) + " of params, for '" + parameter + "',");
  return fits ? Datum(value) : Datum();
}

Value* GivenParameters::Replace(Value* parameter) {
  if (parameter->kind() != ValueKind::kParameter) return parameter;
  const std::optional<Datum> found = Find(parameter->name(), parameter->type());
  return found && found->tensor() != nullptr ? found->tensor() : parameter;
}

void GivenParameters::Report(const ParameterValues& values, Code code, const llvm::Twine& message) {
  const PlaceScope place(&at_, values.frame, values.given->text);
  report_.Error(code, values.given->range, message);
}

}  // namespace pdl
