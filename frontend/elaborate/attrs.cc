#include "frontend/elaborate/attrs.h"

#include "frontend/elaborate/attribute_checker.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/layer_attributes.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {

void Attrs::ElaborateAttr(const ast::AttrStatement* statement) {
  const llvm::StringRef name = statement->name.text;
  if (!names_.Declare(statement->name)) {
    names_.Assign(name, Datum());
    settings_.used.insert(name);
    return;
  }
  // After its value is read, which must not use it.
  const auto poison = llvm::make_scope_exit([&] {
    if (!at_.frame->scope.contains(name)) names_.Assign(name, Datum());
  });
  if (at_.frame->arguments != nullptr) {  // of a called file
    const LayerArgument* given = nullptr;
    for (const LayerArgument& argument : at_.frame->arguments->named)
      if (argument.name.text == name) given = &argument;
    return BindAsParameter(statement, given, *at_.frame->arguments);
  }
  const llvm::StringRef type = statement->type->terms.front().name.text;
  if (type == "function" || type == "parameter") {
    settings_.used.insert(name);
    if (IsSet(name)) {
      report_.Error(Code::kAttributeType, statement->name.range,
                    "attr '" + name + "' is a " + type +
                        ", which only a file that imports this one can give");
      return;
    }
    if (statement->default_value == nullptr) {
      report_.Error(Code::kMissingAttribute, statement->name.range,
                    "attr '" + name + "' has no value: a " + type + " needs a default");
      return;
    }
    return BindAsParameter(statement, nullptr, {});
  }
  const std::optional<AttributeDecl> decl =
      attributes_.DeclareAttribute(statement->name, statement->doc, statement->type);
  if (decl) {
    BindSetting(statement, *decl);
  } else {
    settings_.used.insert(name);
  }
}

bool Attrs::IsSet(llvm::StringRef name) const {
  return llvm::any_of(settings_.of_test,
                      [&](const ast::Argument& field) { return field.name.text == name; }) ||
         llvm::any_of(request_.settings,
                      [&](const auto& setting) { return setting.first == name; });
}

void Attrs::BindAsParameter(const ast::AttrStatement* statement, const LayerArgument* given,
                            const LayerArguments& arguments) {
  ast::Parameter parameter{};
  parameter.name = statement->name;
  parameter.type = statement->type;
  parameter.default_value = statement->default_value;
  parameter.doc = statement->doc;
  layer_attributes_.BindLayerAttribute(parameter, given, arguments);
}

void Attrs::BindSetting(const ast::AttrStatement* statement, const AttributeDecl& decl) {
  const llvm::StringRef name = statement->name.text;
  const std::shared_ptr<const SourceFile> here = at_.file;
  SourceRange range;
  std::optional<Datum> datum = Setting(decl, &range);
  std::shared_ptr<const SourceFile> given_in = std::exchange(at_.file, here);
  if (!datum && statement->default_value != nullptr) {
    range = statement->default_value->range;
    datum = expressions_.Evaluate(statement->default_value);
    given_in = here;
  }
  if (!datum && decl.optional) datum = Datum::NoneValue();
  if (!datum) {
    report_.Error(Code::kMissingAttribute, statement->name.range,
                  "attr '" + name + "' has no value: give it one with " +
                      (request_.setting_place ? request_.setting_place(name)
                                              : ("--set " + name + "=VALUE").str()));
    return;
  }
  const PlaceScope place(&at_, at_.frame, std::move(given_in));
  if (std::optional<Datum> checked =
          attributes_.CheckAttribute(decl, *datum, range, ast_.file->name())) {
    at_.Observe(statement->name.range, *checked);
    names_.Assign(name, std::move(*checked));
  }
}

void Attrs::TakeSettingsOf(const ast::TestStatement& test) {
  if (test.with == nullptr) return;
  if (const auto* record = llvm::dyn_cast<ast::RecordExpr>(test.with)) {
    settings_.of_test = record->fields;
  } else {
    report_.Error(Code::kOperandKind, test.with->range,
                  "expected a record of attrs such as {layers=1, width=8}");
  }
}

std::optional<Datum> Attrs::Setting(const AttributeDecl& decl, SourceRange* range) {
  for (const ast::Argument& field : settings_.of_test) {
    if (field.name.text != decl.name) continue;
    settings_.used.insert(decl.name);
    *range = field.value->range;
    return expressions_.Evaluate(field.value);
  }
  for (const auto& [name, text] : llvm::reverse(request_.settings)) {
    if (name != decl.name) continue;
    settings_.used.insert(name);
    at_.file = std::make_shared<SourceFile>(
        request_.setting_place ? request_.setting_place(name) : "--set", name + "=" + text);
    *range = {static_cast<uint32_t>(name.size() + 1),
              static_cast<uint32_t>(at_.file->text().size())};
    if (decl.kind == AttributeKind::kString && !decl.is_list &&
        !llvm::StringRef(text).starts_with("\"")) {
      return Datum(llvm::StringRef(text));
    }
    Diagnostics errors;
    std::unique_ptr<Ast> parsed = Parse(at_.file, &errors);
    for (const Diagnostic& error : errors.all()) report_.diagnostics().Add(error);
    if (errors.has_errors()) return Datum();
    const auto* assign = parsed->statements.size() == 1
                             ? llvm::dyn_cast<ast::AssignStatement>(parsed->statements[0])
                             : nullptr;
    if (assign == nullptr || assign->targets.size() != 1) {
      report_.Error(Code::kSyntax, *range, "expected one value");
      return Datum();
    }
    Datum value = expressions_.Evaluate(assign->value);
    settings_.texts.push_back(std::move(parsed));
    return value;
  }
  return std::nullopt;
}

void Attrs::CheckSettingsUsed() {
  std::vector<llvm::StringRef> known;
  for (const ast::Statement* statement : ast_.statements) {
    if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement)) {
      known.push_back(attr->name.text);
    }
  }
  for (const ast::Argument& field : settings_.of_test) {
    const llvm::StringRef name = field.name.text;
    if (settings_.used.contains(name) || at_.frame->scope.contains(name)) continue;
    report_.Error(Code::kUnknownSetting, field.name.range,
                  "the network has no attr '" + name + "'" + report_.DidYouMean(name, known));
  }
  for (const auto& [name, text] : request_.settings) {
    // A setting with a syntax error was reported already.
    if (settings_.used.contains(name) || at_.frame->scope.contains(name)) continue;
    Diagnostic diagnostic;
    diagnostic.code = Code::kUnknownSetting;
    diagnostic.message =
        llvm::formatv("{0}: the network has no attr '{1}'{2}",
                      request_.setting_place ? request_.setting_place(name) : "--set " + name, name,
                      report_.DidYouMean(name, known));
    report_.diagnostics().Add(std::move(diagnostic));
  }
}

}  // namespace pdl
