#include "frontend/elaborate/attribute_checker.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/attribute_reader.h"

namespace pdl {

std::optional<AttributeDecl> AttributeChecker::DeclareAttribute(const ast::Identifier& name,
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
    report_.Error(Code::kAttributeType, term.name.range,
                  "an attribute is an int, float, string, bool, function or parameter" +
                      report_.DidYouMean(term.name.text, {"int", "float", "string", "bool",
                                                          "function", "parameter"}));
    return std::nullopt;
  }
  if (type->terms.size() > 1 || term.has_dims || term.is_sparse) {
    report_.Error(Code::kAttributeType, type->range, "an attribute cannot be a tensor");
    return std::nullopt;
  }
  if (!ReadAttributeRange(term, &decl)) return std::nullopt;
  return decl;
}

std::optional<Datum> AttributeChecker::CheckAttribute(const AttributeDecl& decl, const Datum& datum,
                                                      SourceRange range, llvm::StringRef of) {
  if (datum.holds_poison() || !budget_.SpendExtent(datum, range)) return std::nullopt;
  std::optional<Datum> result;
  OpDef def;
  def.signature.name = of.str();
  def.signature.attributes.push_back(decl);
  llvm::Expected<AttributeValue> value = ToAttribute(datum, decl, std::nullopt);
  if (!value) {
    report_.Error(Code::kAttributeType, range,
                  "attribute '" + decl.name +
                      (of.empty() ? llvm::Twine("' ") : "' of '" + of + "' ") +
                      llvm::toString(value.takeError()));
  } else if (llvm::Expected<std::vector<AttributeValue>> checked =
                 CompleteAttributes(def.signature, NamedAttribute{decl.name, std::move(*value)})) {
    AttributeValue& given = checked->front();
    result = FromAttribute(given);
    if (!IsNone(given) && KindOf(given) == AttributeKind::kString) {
      // A Datum refers to strings by views, so the values must live as long as the elaborator.
      settings_.values.push_back(std::make_unique<AttributeValue>(std::move(given)));
      result = FromAttribute(*settings_.values.back());
    }
  } else {
    Call call;
    call.def = &def;
    call.place = range;
    call.attributes.push_back({decl.name, AttributeValue()});
    call.places.push_back({{}, range, nullptr, {}});
    report_.ReportCallError(checked.takeError(), call);
  }
  return result;
}

// Reads the bounds of `a..b`, `> a` and the like into the range of a number.
bool AttributeChecker::ReadAttributeRange(const ast::TypeTerm& term, AttributeDecl* decl) {
  const ast::TypeRange& range = term.value_range;
  if (range.kind == ast::RangeKind::kNone) return true;
  auto bound = [&](const ast::Expr* expr, bool open, std::optional<Bound>* out) {
    const Datum datum = expressions_.Evaluate(expr);
    if (datum.holds_poison()) return false;
    if (const auto* integer = datum.get<int64_t>()) {
      *out = Bound{*integer, open};
    } else if (const std::optional<double> number = datum.number()) {
      *out = Bound{*number, open};
    } else {
      report_.Error(Code::kAttributeType, expr->range,
                    "the end of a range is a number, got " + datum.Phrase());
      return false;
    }
    return true;
  };
  const bool is_number = decl->kind == AttributeKind::kInt || decl->kind == AttributeKind::kFloat;
  const auto* list = llvm::dyn_cast<ast::ListExpr>(range.value);
  if (range.kind == ast::RangeKind::kIn && list != nullptr) {
    for (const ast::Argument& item : list->items) {
      const Datum choice = expressions_.Evaluate(item.value);
      if (choice.holds_poison()) return false;
      if (decl->kind != AttributeKind::kString || !choice.is<llvm::StringRef>()) {
        report_.Error(Code::kAttributeType, item.value->range,
                      "choices are strings, for a string attribute");
        return false;
      }
      decl->choices.push_back(choice.get<llvm::StringRef>()->str());
    }
    return true;
  }
  if (!is_number) {
    report_.Error(Code::kAttributeType, range.range,
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
    report_.Error(Code::kAttributeType, range.range, "expected a range such as 0..10 after 'in'");
    return false;
  }
  return bound(chain->operands[0], false, &decl->lower) &&
         bound(chain->operands[1], chain->operators[0].op == ast::Operator::kRange, &decl->upper);
}

}  // namespace pdl
