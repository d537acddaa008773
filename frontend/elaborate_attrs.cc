// The attrs of a file and the values that the caller gives them.
#include "frontend/elaborator.h"
#include "frontend/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/attribute_reader.h"

namespace pdl {

// The ends of `a..b`, `> a` and the like, as the range of a number.
bool Elaborator::ReadAttributeRange(const ast::TypeTerm& term, AttributeDecl* decl) {
  const ast::TypeRange& range = term.value_range;
  if (range.kind == ast::RangeKind::kNone) return true;
  auto bound = [&](const ast::Expr* expr, bool open, std::optional<Bound>* out) {
    const Datum datum = Evaluate(expr);
    if (datum.holds_poison()) return false;
    const std::optional<double> number = datum.number();
    if (!number) {
      Error(Code::kAttributeType, expr->range,
            "the end of a range is a number, got " + datum.Phrase());
      return false;
    }
    *out = Bound{*number, open};
    return true;
  };
  const bool is_number = decl->kind == AttributeKind::kInt || decl->kind == AttributeKind::kFloat;
  const auto* list = llvm::dyn_cast<ast::ListExpr>(range.value);
  if (range.kind == ast::RangeKind::kIn && list != nullptr) {
    for (const ast::Argument& item : list->items) {
      const Datum choice = Evaluate(item.value);
      if (choice.holds_poison()) return false;
      if (decl->kind != AttributeKind::kString || !choice.is<llvm::StringRef>()) {
        Error(Code::kAttributeType, item.value->range, "choices are texts, for a string");
        return false;
      }
      decl->choices.push_back(choice.get<llvm::StringRef>()->str());
    }
    return true;
  }
  if (!is_number) {
    Error(Code::kAttributeType, range.range,
          "a range goes with an int or a float, not with " + term.name.text);
    return false;
  }
  switch (range.kind) {
    case ast::RangeKind::kGreater:
      return bound(range.value, true, &decl->lower);
    case ast::RangeKind::kGreaterEqual:
      return bound(range.value, false, &decl->lower);
    case ast::RangeKind::kLess:
      return bound(range.value, true, &decl->upper);
    case ast::RangeKind::kLessEqual:
      return bound(range.value, false, &decl->upper);
    default:
      break;
  }
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(range.value);
  if (chain == nullptr || (chain->operators[0].op != ast::Operator::kRange &&
                           chain->operators[0].op != ast::Operator::kRangeTo)) {
    Error(Code::kAttributeType, range.range, "wanted a range such as 0..10 after 'in'");
    return false;
  }
  return bound(chain->operands[0], false, &decl->lower) &&
         bound(chain->operands[1], chain->operators[0].op == ast::Operator::kRange, &decl->upper);
}

std::optional<AttributeDecl> Elaborator::DeclareAttribute(const ast::Identifier& name,
                                                          llvm::StringRef doc,
                                                          const ast::Type* type) {
  const ast::TypeTerm& term = type->terms.front();
  AttributeDecl decl;
  decl.name = name.text.str();
  decl.comment = doc.str();
  decl.is_list = term.is_list;
  decl.optional = term.may_be_none;
  if (term.name.text == "int") {
    decl.kind = AttributeKind::kInt;
  } else if (term.name.text == "float") {
    decl.kind = AttributeKind::kFloat;
  } else if (term.name.text == "string") {
    decl.kind = AttributeKind::kString;
  } else if (term.name.text == "bool") {
    decl.kind = AttributeKind::kBool;
  } else {
    Error(Code::kAttributeType, term.name.range,
          "an attribute is an int, float, string, bool, function or parameter" +
              DidYouMean(term.name.text,
                         {"int", "float", "string", "bool", "function", "parameter"}));
    return std::nullopt;
  }
  if (type->terms.size() > 1 || term.has_dims || term.is_sparse) {
    Error(Code::kAttributeType, type->range, "an attribute is no tensor");
    return std::nullopt;
  }
  if (!ReadAttributeRange(term, &decl)) return std::nullopt;
  return decl;
}

std::optional<Datum> Elaborator::CheckAttribute(const AttributeDecl& decl, const Datum& datum,
                                                SourceRange range,
                                                std::shared_ptr<const SourceFile> file,
                                                llvm::StringRef of) {
  if (datum.holds_poison() || !SpendExtent(datum, range)) return std::nullopt;
  const std::shared_ptr<const SourceFile> here = std::exchange(file_, std::move(file));
  std::optional<Datum> result;
  OpDef def;
  def.signature.name = of.str();
  def.signature.attributes.push_back(decl);
  llvm::Expected<AttributeValue> value = ToAttribute(datum, decl, std::nullopt);
  if (!value) {
    Error(Code::kAttributeType, range,
          "attribute '" + decl.name + (of.empty() ? llvm::Twine("' ") : "' of '" + of + "' ") +
              llvm::toString(value.takeError()));
  } else if (llvm::Expected<std::vector<AttributeValue>> checked =
                 CompleteAttributes(def.signature, NamedAttribute{decl.name, std::move(*value)})) {
    AttributeValue& given = checked->front();
    result = FromAttribute(given);
    if (!IsNone(given) && KindOf(given) == AttributeKind::kString) {
      // Texts in a Datum are views: the values live as long as the elaborator.
      attribute_values_.push_back(std::make_unique<AttributeValue>(std::move(given)));
      result = FromAttribute(*attribute_values_.back());
    }
  } else {
    Call call;
    call.def = &def;
    call.place = range;
    call.attributes.push_back({decl.name, AttributeValue()});
    call.places.push_back({{}, range, nullptr, {}});
    ReportCallError(checked.takeError(), call);
  }
  file_ = here;
  return result;
}

// What the caller gives for an attr, and `*range` in file_, which becomes the setting's own text.
std::optional<Datum> Elaborator::Setting(const AttributeDecl& decl, SourceRange* range) {
  for (const ast::Argument& field : test_settings_) {
    if (field.name.text != decl.name) continue;
    used_settings_.insert(decl.name);
    *range = field.value->range;
    return Evaluate(field.value);
  }
  for (const auto& [name, text] : llvm::reverse(request_.settings)) {
    if (name != decl.name) continue;
    used_settings_.insert(name);
    file_ = std::make_shared<SourceFile>(
        request_.setting_place ? request_.setting_place(name) : "--set", name + "=" + text);
    *range = {static_cast<uint32_t>(name.size() + 1), static_cast<uint32_t>(file_->text().size())};
    if (decl.kind == AttributeKind::kString && !decl.is_list &&
        !llvm::StringRef(text).starts_with("\"")) {
      return Datum(llvm::StringRef(text));
    }
    Diagnostics mistakes;
    std::unique_ptr<Ast> parsed = Parse(file_, &mistakes);
    for (const Diagnostic& mistake : mistakes.all()) diagnostics_->Add(mistake);
    if (mistakes.has_errors()) return Datum();
    const auto* assign = parsed->statements.size() == 1
                             ? llvm::dyn_cast<ast::AssignStatement>(parsed->statements[0])
                             : nullptr;
    if (assign == nullptr || assign->targets.size() != 1) {
      Error(Code::kSyntax, *range, "wanted one value");
      return Datum();
    }
    Datum value = Evaluate(assign->value);
    setting_texts_.push_back(std::move(parsed));
    return value;
  }
  return std::nullopt;
}

void Elaborator::ElaborateAttr(const ast::AttrStatement* statement) {
  const llvm::StringRef name = statement->name.text;
  const bool is_new = Declare(statement->name);
  Assign(name, Datum());
  if (!is_new) {
    used_settings_.insert(name);
    return;
  }
  if (frame_->arguments != nullptr) {  // of a file that is called
    const LayerArgument* given = nullptr;
    for (const LayerArgument& argument : frame_->arguments->named)
      if (argument.name.text == name) given = &argument;
    ast::Parameter parameter{};
    parameter.name = statement->name;
    parameter.type = statement->type;
    parameter.default_value = statement->default_value;
    parameter.doc = statement->doc;
    BindLayerAttribute(parameter, given, *frame_->arguments);
    return;
  }
  const llvm::StringRef type = statement->type->terms.front().name.text;
  if (type == "function" || type == "parameter") {
    used_settings_.insert(name);
    if (statement->default_value == nullptr) {
      Error(Code::kMissingAttribute, statement->name.range,
            "attr '" + name + "' has no value: a " + type + " needs a default");
      return;
    }
    ast::Parameter parameter{};
    parameter.name = statement->name;
    parameter.type = statement->type;
    parameter.default_value = statement->default_value;
    BindLayerAttribute(parameter, nullptr, {});
    return;
  }
  const std::optional<AttributeDecl> decl =
      DeclareAttribute(statement->name, statement->doc, statement->type);
  if (!decl) {
    used_settings_.insert(name);
    return;
  }
  const std::shared_ptr<const SourceFile> here = file_;
  SourceRange range;
  std::optional<Datum> datum = Setting(*decl, &range);
  std::shared_ptr<const SourceFile> given_in = std::exchange(file_, here);
  if (!datum && statement->default_value != nullptr) {
    range = statement->default_value->range;
    datum = Evaluate(statement->default_value);
    given_in = here;
  }
  if (!datum && decl->optional) datum = Datum::NoneValue();
  if (!datum) {
    Error(Code::kMissingAttribute, statement->name.range,
          "attr '" + name + "' has no value: give it one with " +
              (request_.setting_place ? request_.setting_place(name)
                                      : ("--set " + name + "=VALUE").str()));
    return;
  }
  if (std::optional<Datum> checked =
          CheckAttribute(*decl, *datum, range, given_in, ast_.file->name())) {
    Assign(name, std::move(*checked));
  }
}

void Elaborator::CheckSettingsUsed() {
  std::vector<llvm::StringRef> known;
  for (const ast::Statement* statement : ast_.statements) {
    if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement)) {
      known.push_back(attr->name.text);
    }
  }
  for (const ast::Argument& field : test_settings_) {
    const llvm::StringRef name = field.name.text;
    if (used_settings_.contains(name) || frame_->scope.contains(name)) continue;
    Error(Code::kUnknownSetting, field.name.range,
          "the network has no attr '" + name + "'" + DidYouMean(name, known));
  }
  for (const auto& [name, text] : request_.settings) {
    // One with a syntax error was reported.
    if (used_settings_.contains(name) || frame_->scope.contains(name)) continue;
    Diagnostic diagnostic;
    diagnostic.code = Code::kUnknownSetting;
    diagnostic.message =
        llvm::formatv("{0}: the network has no attr '{1}'{2}",
                      request_.setting_place ? request_.setting_place(name) : "--set " + name, name,
                      DidYouMean(name, known));
    diagnostics_->Add(std::move(diagnostic));
  }
}

}  // namespace pdl
