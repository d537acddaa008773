#include "frontend/elaborate/parameter_records.h"

#include "frontend/elaborate/attribute_checker.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/load_calls.h"
#include "frontend/elaborate/reporter.h"
#include "ir/names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/attribute_reader.h"

namespace pdl {
namespace {

AttributeDecl Declare(llvm::StringRef name, AttributeKind kind) {
  AttributeDecl decl;
  decl.name = name.str();
  decl.kind = kind;
  return decl;
}

AttributeDecl Number(llvm::StringRef name) {
  AttributeDecl decl = Declare(name, AttributeKind::kFloat);
  decl.lower = Bound{0, false};
  return decl;
}

/// The attributes other than `init`.
std::vector<AttributeDecl> Declarations() {
  std::vector<AttributeDecl> decls = {Number("weight_decay"),
                                      Number("l1"),
                                      Number("gradient_clipping"),
                                      Number("lr_scale"),
                                      Declare("trainable", AttributeKind::kBool),
                                      Declare("name", AttributeKind::kString)};
  decls.front().upper = Bound{1, false};
  return decls;
}

}  // namespace

Datum ParameterRecords::ReadRecord(const ast::Expr* expr) {
  const auto* record = llvm::cast<ast::RecordExpr>(expr);
  auto result = std::make_shared<ParameterRecord>();
  result->text = at_.file;
  bool ok = true;
  for (const auto& [i, field] : llvm::enumerate(record->fields)) {
    if (field.text != nullptr) {
      report_.Error(Code::kUnknownAttribute, field.text->range,
                    "the attributes of a parameter are written name=value");
      return Datum();
    }
    const bool is_twice = llvm::any_of(record->fields.take_front(i), [&](const auto& other) {
      return other.name.text == field.name.text;
    });
    if (is_twice) {
      report_.Error(Code::kRedefined, field.name.range, "'" + field.name.text + "' is given twice");
      ok = false;
    }
    ok &= ReadField(field, result.get());
  }
  if (!ok) return Datum();
  return Datum(Datum::Record(std::move(result)));
}

bool ParameterRecords::ReadInit(const ast::Expr* expr, ParameterRecord* record) {
  if (LoadCalls::IsLoad(expr)) {
    record->load = load_calls_.ReadCall(llvm::cast<ast::CallExpr>(expr));
    return record->load.has_value();
  }
  const Datum init = functions_.ReadFunction(expr);
  if (const auto* function = init.get<Datum::FunctionValue>()) record->init = *function;
  return !init.is_poison();
}

bool ParameterRecords::ReadName(const ast::Argument& field, llvm::StringRef name,
                                ParameterRecord* record) {
  if (!IsPath(name)) {
    const llvm::StringRef first = name.split('.').first;
    report_.Error(Code::kAttributeRange, field.value->range,
                  "the name of a parameter is a name such as \"shared\" or \"encoder.w\", got \"" +
                      name + "\"" +
                      (IsReservedWord(first) ? ", and '" + first + "' is a reserved word" : ""));
    return false;
  }
  record->name = name.str();
  record->name_place = field.value->range;
  return true;
}

bool ParameterRecords::ReadField(const ast::Argument& field, ParameterRecord* record) {
  const llvm::StringRef name = field.name.text;
  if (name == "init") return ReadInit(field.value, record);
  static const std::vector<AttributeDecl>& decls = *new std::vector<AttributeDecl>(Declarations());
  const auto decl = llvm::find_if(decls, [&](const AttributeDecl& d) { return d.name == name; });
  if (decl == decls.end()) {
    llvm::SmallVector<llvm::StringRef, 8> names = {"init"};
    for (const AttributeDecl& each : decls) names.push_back(each.name);
    report_.Error(Code::kUnknownAttribute, field.name.range,
                  "a parameter has no attribute '" + name + "'" + report_.DidYouMean(name, names));
    expressions_.Evaluate(field.value);
    return false;
  }
  const std::optional<Datum> value = attributes_.CheckAttribute(
      *decl, expressions_.Evaluate(field.value), field.value->range, "parameter");
  if (!value) return false;
  if (name == "name") return ReadName(field, *value->get<llvm::StringRef>(), record);
  if (name == "trainable") {
    record->trainable = *value->get<bool>();
    return true;
  }
  std::optional<double>& number = name == "weight_decay"        ? record->weight_decay
                                  : name == "l1"                ? record->l1
                                  : name == "gradient_clipping" ? record->gradient_clipping
                                                                : record->lr_scale;
  number = *value->number();
  return true;
}

}  // namespace pdl
