#include "frontend/elaborate/load_calls.h"

#include <tuple>

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/reporter.h"
#include "ir/names.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

bool LoadCalls::IsLoad(const ast::Expr* expr) {
  const auto* call = llvm::dyn_cast<ast::CallExpr>(expr);
  const auto* name = call == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(call->callee);
  return name != nullptr && name->name == "load";
}

std::optional<LoadCall> LoadCalls::ReadCall(const ast::CallExpr* call) {
  const ast::StringExpr* texts[2] = {};
  WeightRef weight;
  for (const auto& [i, argument] : llvm::enumerate(call->arguments)) {
    if (argument.is_named() &&
        (argument.name.text == "cast" || argument.name.text == "transpose")) {
      if (!ReadBool(argument, argument.name.text == "cast" ? &weight.cast : &weight.transpose))
        return std::nullopt;
    } else if (i < 2 && !argument.is_named() && !argument.is_spread) {
      texts[i] = llvm::dyn_cast<ast::StringExpr>(argument.value);
    } else {
      texts[0] = nullptr;
      break;
    }
  }
  if (texts[0] == nullptr || texts[1] == nullptr) {
    report_.Error(Code::kBadInitializer, call->range,
                  "load takes two strings: load(\"file.safetensors\", \"name\")");
    return std::nullopt;
  }
  weight.file = at_.frame->module->folder + texts[0]->value.str();
  weight.tensor = texts[1]->value.str();
  for (const auto& [text, name, what] :
       {std::tuple(texts[0], &weight.file, "file"), std::tuple(texts[1], &weight.tensor, "tensor")})
    if (!CheckName(text->range, text->value, *name, what)) return std::nullopt;
  return LoadCall{std::move(weight), at_.file, texts[0]->value.str(), texts[0]->range,
                  texts[1]->range};
}

bool LoadCalls::CheckName(SourceRange place, llvm::StringRef text, llvm::StringRef name,
                          const char* what) {
  // An empty name of a file is not one for the folder of an imported source, either.
  if (!text.empty() && IsWeightName(name)) return true;
  report_.Error(Code::kBadInitializer, place,
                llvm::Twine("the name of the ") + what +
                    (text.empty() ? " is empty" : " has a control character"));
  return false;
}

std::optional<WeightRules> LoadCalls::ReadRules(const ast::Expr* with) {
  const auto* record = llvm::dyn_cast<ast::RecordExpr>(with);
  if (record == nullptr) {
    report_.Error(Code::kWeightRule, with->range,
                  "expected a record such as {cast=true, transpose=[\"*.weight\"]}");
    return std::nullopt;
  }
  WeightRules rules;
  bool ok = true;
  for (const auto& [i, field] : llvm::enumerate(record->fields)) {
    const bool is_twice = llvm::any_of(
        record->fields.take_front(i),
        [&](const ast::Argument& other) { return other.name.text == field.name.text; });
    if (is_twice && field.is_named()) {
      report_.Error(Code::kRedefined, field.name.range, "'" + field.name.text + "' is given twice");
      ok = false;
      continue;
    }
    ok &= ReadRule(field, &rules);
  }
  if (!ok) return std::nullopt;
  return rules;
}

bool LoadCalls::ReadRule(const ast::Argument& field, WeightRules* rules) {
  const llvm::StringRef name = field.name.text;
  if (name == "cast") return ReadBool(field, &rules->cast);
  if (name == "partial") return ReadBool(field, &rules->partial);
  if (name == "rename") return ReadRename(field.value, rules);
  if (name == "transpose") return ReadTranspose(field.value, rules);
  const SourceRange place = field.is_named() ? field.name.range : field.range();
  report_.Error(Code::kWeightRule, place,
                "load has no option '" + (field.is_named() ? name : at_.file->Text(place)) + "'" +
                    report_.DidYouMean(name, {"cast", "partial", "rename", "transpose"}));
  return false;
}

bool LoadCalls::ReadBool(const ast::Argument& field, bool* value) {
  const Datum datum = expressions_.Evaluate(field.value);
  if (datum.holds_poison()) return false;
  if (const bool* given = datum.get<bool>()) {
    *value = *given;
    return true;
  }
  report_.Error(Code::kWeightRule, field.value->range,
                field.name.text + " is true or false, got " + datum.Phrase());
  return false;
}

bool LoadCalls::ReadRename(const ast::Expr* expr, WeightRules* rules) {
  const auto* record = llvm::dyn_cast<ast::RecordExpr>(expr);
  const bool has_texts = record != nullptr && llvm::all_of(record->fields, [](const auto& field) {
                           return field.text != nullptr;
                         });
  if (!has_texts) {
    report_.Error(Code::kWeightRule, expr->range,
                  "expected pairs of names such as {\"encoder.layer\": \"encoder.block\"}");
    return false;
  }
  for (const ast::Argument& field : record->fields) {
    const Datum to = expressions_.Evaluate(field.value);
    if (to.holds_poison()) return false;
    if (!to.is<llvm::StringRef>()) {
      report_.Error(Code::kWeightRule, field.value->range,
                    "the new name is a string, got " + to.Phrase());
      return false;
    }
    if (field.text->value.empty()) {
      report_.Error(Code::kWeightRule, field.text->range, "the name to be replaced is empty");
      return false;
    }
    rules->rename.emplace_back(field.text->value.str(), to.get<llvm::StringRef>()->str());
  }
  return true;
}

bool LoadCalls::ReadTranspose(const ast::Expr* expr, WeightRules* rules) {
  const Datum datum = expressions_.Evaluate(expr);
  if (datum.holds_poison()) return false;
  const std::vector<Datum> one = {datum};
  for (const Datum& item : datum.list() != nullptr ? *datum.list() : one) {
    const auto* pattern = item.get<llvm::StringRef>();
    if (pattern == nullptr || pattern->empty()) {
      report_.Error(
          Code::kWeightRule, expr->range,
          "transpose is a list of patterns such as [\"*.weight\"], got " + datum.Phrase());
      return false;
    }
    rules->transpose.push_back(pattern->str());
  }
  return true;
}

}  // namespace pdl
