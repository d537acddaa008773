#include "frontend/elaborate/variables.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/given_parameters.h"
#include "frontend/elaborate/initializers.h"
#include "frontend/elaborate/layer_copies.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/type_reader.h"
#include "frontend/elaborate/unused_names.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::StatementKind;

void Variables::ElaborateVariable(const ast::VariableStatement* statement) {
  if (statement->type == nullptr) return ElaborateCopy(statement);
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
  if (is_param && given.name.empty()) {
    const std::string full = at_.frame->FullName(name) + at_.frame->counts;
    if (std::optional<Datum> replaced = given_parameters_.Find(full, *type))
      return names_.Assign(name, *std::move(replaced));
  }
  bool is_error = false;
  Value* value = given.name.empty() ? FindShared(statement, *type, &is_error)
                                    : FindNamed(given, info, *type, &is_error);
  if (is_error) return names_.Poison(statement->name);
  if (value == nullptr) {
    ok &= initializers_.ReadInitializer(statement, *type, given, &info);
    if (!ok) return names_.Poison(statement->name);
    value = Create(statement, *type, std::move(info), given.name);
  }
  Define(statement, value);
}

Value* Variables::Create(const ast::VariableStatement* statement, const Type& type,
                         VariableInfo info, llvm::StringRef given_name) {
  const LocationId location = at_.AddLocation(graph_, statement->range.begin);
  std::string full = given_name.empty()
                         ? at_.frame->FullName(statement->name.text) + at_.frame->counts
                         : given_name.str();
  if (graph_.FindValue(full) != nullptr) full = graph_.NewName(full);
  Value* value = statement->kind == StatementKind::kParam
                     ? graph_.AddParameter(full, type, std::move(info), location)
                     : graph_.AddState(full, type, std::move(info), location);
  graph_.SetComment(value, statement->doc.str());
  if (given_name.empty() && !at_.frame->path.empty()) {
    llvm::StringRef path = llvm::StringRef(at_.frame->path).drop_back();
    while (values_.owning_paths.insert(path).second && path.contains('.'))
      path = path.rsplit('.').first;
  }
  return value;
}

void Variables::Define(const ast::VariableStatement* statement, Value* value) {
  const bool is_param = statement->kind == StatementKind::kParam;
  if (!is_param) at_.frame->states[statement->name.text] = value;
  // The parameters of a copied layer are states.
  if (value->kind() == ValueKind::kState) value = names_.CurrentState(value);
  unused_.Define(statement->name, is_param ? NameKind::kParameter : NameKind::kState, Datum(value));
  at_.Observe(statement->name.range, Datum(value));
  names_.Assign(statement->name.text, Datum(value));
}

void Variables::ElaborateCopy(const ast::VariableStatement* statement) {
  const llvm::StringRef name = statement->name.text;
  const ast::CallExpr* copy = LayerCopies::AsCopy(statement->initial);
  if (copy == nullptr) {
    report_.Error(Code::kBadType, statement->name.range,
                  "the type of state '" + name + "' is missing: state " + name +
                      ": f32[...] = ...; only copy(...) needs none");
    return copies_.Poison(statement->name);
  }
  if (!names_.Declare(statement->name)) return copies_.Poison(statement->name);
  const std::optional<LayerCopies::Source> source = copies_.ReadSource(copy);
  if (!source) return copies_.Poison(statement->name);
  if (source->layer != nullptr) return copies_.CopyLayer(statement->name, *source);
  const Type& type = source->value->type();
  bool is_error = false;
  Value* value = FindShared(statement, type, &is_error);
  if (is_error) return names_.Poison(statement->name);
  if (value == nullptr) {
    VariableInfo info;
    info.copy_of = source->value->name();
    value = Create(statement, type, std::move(info), "");
  }
  Define(statement, value);
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
  const std::string full = at_.frame->FullName(statement->name.text) + at_.frame->counts;
  Value* value = graph_.FindValue(full);
  const bool is_copied = copies_.IsInCopy(full);
  if (value == nullptr && is_copied) {
    report_.Error(
        Code::kSharedParameter, statement->name.range,
        "'" + full + "' was not copied: no earlier call of the original has created its original");
    *is_error = true;
  }
  if (value == nullptr) return nullptr;
  const ValueKind kind = statement->kind == StatementKind::kParam && !is_copied
                             ? ValueKind::kParameter
                             : ValueKind::kState;
  if (value->kind() == kind && value->type() == type) return value;
  report_.Error(Code::kSharedParameter, statement->name.range,
                "'" + value->name() + "' is " + type.ToString() +
                    " in this call of the instance, and " + value->type().ToString() +
                    " in an earlier one");
  *is_error = true;
  return nullptr;
}

}  // namespace pdl
