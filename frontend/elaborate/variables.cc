#include "frontend/elaborate/variables.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/initializers.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/type_reader.h"
#include "frontend/elaborate/unused_names.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::StatementKind;

void Variables::ElaborateVariable(const ast::VariableStatement* statement) {
  const bool is_param = statement->kind == StatementKind::kParam;
  const llvm::StringRef name = statement->name.text;
  bool ok = names_.Declare(statement->name);
  const ast::TypeTerm& term = statement->type->terms.front();
  auto is_ragged = [](const ast::Dim& dim) { return dim.kind == ast::DimKind::kRagged; };
  if (term.is_sparse || llvm::any_of(term.dims, is_ragged)) {
    report_.Error(
        Code::kBadType, term.range,
        llvm::Twine(is_param ? "a parameter" : "a state") + " is dense and has no ragged dims");
    return names_.Poison(statement->name);
  }
  const std::optional<Type> type = types_.ReadType(statement->type, /*introduces=*/false);
  VariableInfo info;
  ParameterRecord given;
  if (statement->with != nullptr) ok &= ReadParameterAttributes(statement->with, &info, &given);
  if (!type) return names_.Poison(statement->name);
  if (!type->is_plain()) {
    report_.Error(Code::kBadType, statement->type->range,
                  llvm::Twine(is_param ? "a parameter" : "a state") + " has no ragged dims, got " +
                      type->ToString());
    return names_.Poison(statement->name);
  }
  if (is_param) {
    for (const Dim& dim : type->dims) {
      if (dim.is_constant()) continue;
      report_.Error(
          Code::kUnknownSize, statement->type->range,
          "the sizes of a parameter must be known at compile time; " + dim.ToString() + " is not");
      return names_.Poison(statement->name);
    }
  }
  bool is_error = false;
  Value* value = given.name.empty() ? FindShared(statement, *type, &is_error)
                                    : FindNamed(given, info, *type, &is_error);
  if (is_error) return names_.Poison(statement->name);
  if (value == nullptr) {
    ok &= initializers_.ReadInitializer(statement, *type, given, &info);
    if (!ok) return names_.Poison(statement->name);
    const LocationId location = at_.AddLocation(graph_, statement->range.begin);
    std::string full =
        given.name.empty() ? at_.frame->FullName(name) + at_.frame->counts : given.name;
    if (graph_.FindValue(full) != nullptr) full = graph_.NewName(full);
    value = is_param ? graph_.AddParameter(full, *type, std::move(info), location)
                     : graph_.AddState(full, *type, std::move(info), location);
    graph_.SetComment(value, statement->doc.str());
  }
  if (!is_param) {
    at_.frame->states[name] = value;
    value = names_.CurrentState(value);
  }
  unused_.Define(statement->name, is_param ? NameKind::kParameter : NameKind::kState, Datum(value));
  names_.Assign(name, Datum(value));
}

bool Variables::ReadParameterAttributes(const ast::Expr* with, VariableInfo* info,
                                        ParameterRecord* given) {
  const Datum datum = expressions_.Evaluate(with);
  if (datum.holds_poison()) return false;
  const auto* record = datum.get<Datum::Record>();
  if (record == nullptr) {
    report_.Error(Code::kBadInitializer, with->range,
                  "expected a record such as {weight_decay=1e-4}");
    return false;
  }
  *given = **record;
  info->weight_decay = given->weight_decay.value_or(info->weight_decay);
  info->l1 = given->l1.value_or(info->l1);
  info->gradient_clipping = given->gradient_clipping.value_or(info->gradient_clipping);
  info->lr_scale = given->lr_scale.value_or(info->lr_scale);
  info->trainable = given->trainable.value_or(info->trainable);
  return true;
}

Value* Variables::FindNamed(const ParameterRecord& given, const VariableInfo& info,
                            const Type& type, bool* is_error) {
  Value* value = graph_.FindValue(given.name);
  if (value == nullptr) return nullptr;
  std::string problem;
  if (value->kind() != ValueKind::kParameter) {
    problem = "'" + given.name + "' is not a parameter, so no parameter can have its name";
  } else if (value->type() != type) {
    problem = "'" + given.name + "' is " + type.ToString() + " in this layer, and " +
              value->type().ToString() + " in an earlier one";
  } else {
    const VariableInfo& first = value->variable();
    auto differs = [&](const auto& here, const auto& now, const auto& before) {
      return here.has_value() && now != before;
    };
    if (differs(given.weight_decay, info.weight_decay, first.weight_decay) ||
        differs(given.l1, info.l1, first.l1) ||
        differs(given.gradient_clipping, info.gradient_clipping, first.gradient_clipping) ||
        differs(given.lr_scale, info.lr_scale, first.lr_scale) ||
        differs(given.trainable, info.trainable, first.trainable))
      problem = "'" + given.name + "' has other attributes here than in an earlier layer";
  }
  if (problem.empty()) return value;
  const PlaceScope place(&at_, at_.frame, given.text);
  report_.Error(Code::kSharedParameter, given.name_place, problem);
  *is_error = true;
  return nullptr;
}

Value* Variables::FindShared(const ast::VariableStatement* statement, const Type& type,
                             bool* is_error) {
  if (!at_.frame->is_instance) return nullptr;
  Value* value = graph_.FindValue(at_.frame->FullName(statement->name.text) + at_.frame->counts);
  if (value == nullptr) return nullptr;
  const ValueKind kind =
      statement->kind == StatementKind::kParam ? ValueKind::kParameter : ValueKind::kState;
  if (value->kind() == kind && value->type() == type) return value;
  report_.Error(Code::kSharedParameter, statement->name.range,
                "'" + value->name() + "' is " + type.ToString() +
                    " in this call of the instance, and " + value->type().ToString() +
                    " in an earlier one");
  *is_error = true;
  return nullptr;
}

}  // namespace pdl
