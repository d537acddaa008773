// Checks a call's attributes against the operator's declaration.
#include "ir/emit_text.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// Whether it is a shape attribute that also accepts words.
bool TakesWords(const AttributeDecl& decl) {
  return decl.kind == AttributeKind::kShape && !decl.is_list && !decl.choices.empty();
}

std::string KindPhrase(const AttributeDecl& decl) {
  if (TakesWords(decl)) {
    std::string phrase = "a shape";
    for (const std::string& choice : decl.choices) phrase += " or \"" + choice + "\"";
    return phrase;
  }
  if (decl.is_list) return ("a list of " + AttributeKindName(decl.kind) + "s").str();
  llvm::StringRef name = AttributeKindName(decl.kind);
  return ((decl.kind == AttributeKind::kInt ? "an " : "a ") + name).str();
}

std::string ValuePhrase(const AttributeValue& value) {
  if (IsNone(value)) return "none";
  const std::string text = Shorten(AttributeToString(value), 40);
  if (IsList(value)) return "the list " + text;
  return ("the " + AttributeKindName(KindOf(value)) + " " + text).str();
}

llvm::Error Fail(Code code, const AttributeDecl& decl, const std::string& message,
                 std::optional<unsigned> element = std::nullopt) {
  auto error = std::make_unique<CallError>(code, message);
  error->attribute = decl.name;
  error->element = element;
  error->is_whole = true;
  return llvm::Error(std::move(error));
}

std::string Subject(const OpSignature& signature, const AttributeDecl& decl,
                    std::optional<unsigned> element) {
  std::string text = "attribute '" + decl.name + "' of '" + signature.name + "'";
  return element ? "element " + std::to_string(*element) + " of " + text : text;
}

std::string RangePhrase(const AttributeDecl& decl) {
  auto number = [](const AttributeNumber& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
    const std::string text = FloatToString(std::get<double>(value));
    llvm::StringRef shorter = text;
    shorter.consume_back(".0");
    return shorter.str();
  };
  std::vector<std::string> parts;
  if (decl.lower)
    parts.push_back((decl.lower->open ? "larger than " : "at least ") + number(decl.lower->value));
  if (decl.upper)
    parts.push_back((decl.upper->open ? "less than " : "at most ") + number(decl.upper->value));
  return llvm::join(parts, " and ");
}

template <typename T>
llvm::Error CheckNumber(const OpSignature& signature, const AttributeDecl& decl, T value,
                        std::optional<unsigned> element) {
  if (decl.Admits(value)) return llvm::Error::success();
  return Fail(Code::kAttributeRange, decl,
              Subject(signature, decl, element) + " must be " + RangePhrase(decl) + ", got " +
                  AttributeToString(value),
              element);
}

template <typename T>
llvm::Error CheckNumbers(const OpSignature& signature, const AttributeDecl& decl,
                         const std::vector<T>& list) {
  for (unsigned i = 0; i < list.size(); ++i)
    if (llvm::Error error = CheckNumber(signature, decl, list[i], i)) return error;
  return llvm::Error::success();
}

llvm::Error CheckChoice(const OpSignature& signature, const AttributeDecl& decl,
                        const std::string& text, std::optional<unsigned> element) {
  if (decl.choices.empty() || llvm::is_contained(decl.choices, text)) return llvm::Error::success();
  std::vector<llvm::StringRef> names(decl.choices.begin(), decl.choices.end());
  std::vector<std::string> quoted;
  for (const std::string& choice : decl.choices) quoted.push_back("\"" + choice + "\"");
  std::string message = Subject(signature, decl, element) + " must be " +
                        (TakesWords(decl) ? "a shape or one of " : "one of ") +
                        llvm::join(quoted, ", ") + ", got \"" + text + "\"";
  if (llvm::StringRef near = NearestName(text, names); !near.empty())
    message += "; did you mean \"" + near.str() + "\"?";
  return Fail(Code::kAttributeChoice, decl, message, element);
}

llvm::Error CheckValue(const OpSignature& signature, const AttributeDecl& decl,
                       const AttributeValue& value) {
  if (const auto* v = std::get_if<int64_t>(&value))
    return CheckNumber(signature, decl, *v, std::nullopt);
  if (const auto* v = std::get_if<double>(&value))
    return CheckNumber(signature, decl, *v, std::nullopt);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
    return CheckNumbers(signature, decl, *list);
  if (const auto* list = std::get_if<std::vector<double>>(&value))
    return CheckNumbers(signature, decl, *list);
  if (const auto* text = std::get_if<std::string>(&value))
    return CheckChoice(signature, decl, *text, std::nullopt);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (unsigned i = 0; i < list->size(); ++i)
      if (llvm::Error error = CheckChoice(signature, decl, (*list)[i], i)) return error;
  }
  if (const Shape* shape = std::get_if<Shape>(&value)) {
    for (unsigned i = 0; i < shape->size(); ++i)
      if (!(*shape)[i].is_valid())
        return Fail(Code::kDimOverflow, decl,
                    Subject(signature, decl, i) + " overflows 64 bits or divides by zero", i);
  }
  return llvm::Error::success();
}

/// The conversions that the language allows: int to float, ints or one dim to a shape, and the
/// empty list to a list of any kind.
bool Coerce(const AttributeDecl& decl, AttributeValue& value) {
  if (IsNone(value)) return decl.optional;
  if (TakesWords(decl) && std::holds_alternative<std::string>(value)) return true;
  if (KindOf(value) == decl.kind && IsList(value) == decl.is_list) return true;
  if (decl.kind == AttributeKind::kShape && !decl.is_list) {
    Shape shape;
    if (const auto* one = std::get_if<int64_t>(&value)) {
      shape.push_back(*one);
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      shape.append(list->begin(), list->end());
    } else if (!(IsList(value) && std::visit(
                                      [](const auto& v) {
                                        if constexpr (requires { v.empty(); }) return v.empty();
                                        return false;
                                      },
                                      value))) {
      return false;
    }
    value = std::move(shape);
    return true;
  }
  if (decl.kind == AttributeKind::kInt && decl.is_list) {
    const Shape* shape = std::get_if<Shape>(&value);
    if (!shape) return false;
    std::vector<int64_t> ints;
    for (const Dim& dim : *shape) {
      if (!dim.is_constant()) return false;
      ints.push_back(dim.constant());
    }
    value = std::move(ints);
    return true;
  }
  if (decl.kind == AttributeKind::kFloat) {
    if (const auto* one = std::get_if<int64_t>(&value); one && !decl.is_list) {
      value = static_cast<double>(*one);
      return true;
    }
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value); list && decl.is_list) {
      value = std::vector<double>(list->begin(), list->end());
      return true;
    }
  }
  return false;
}

llvm::Error UnknownAttribute(const OpSignature& signature, llvm::StringRef name) {
  std::vector<llvm::StringRef> known;
  for (const AttributeDecl& decl : signature.attributes) known.push_back(decl.name);
  std::string message = "'" + signature.name + "' has no attribute '" + name.str() + "'";
  if (llvm::StringRef near = NearestName(name, known); !near.empty())
    message += "; did you mean '" + near.str() + "'?";
  auto error = std::make_unique<CallError>(Code::kUnknownAttribute, message);
  error->attribute = name.str();
  error->is_whole = true;
  return llvm::Error(std::move(error));
}

}  // namespace

llvm::Expected<std::vector<AttributeValue>> CompleteAttributes(
    const OpSignature& signature, llvm::ArrayRef<NamedAttribute> given) {
  std::vector<AttributeValue> values(signature.attributes.size());
  llvm::SmallVector<bool, 8> present(values.size(), false);
  for (const NamedAttribute& attribute : given) {
    int index = signature.FindAttribute(attribute.name);
    if (index < 0) return UnknownAttribute(signature, attribute.name);
    const AttributeDecl& decl = signature.attributes[index];
    if (present[index])
      return Fail(Code::kUnknownAttribute, decl,
                  Subject(signature, decl, std::nullopt) + " is given twice");
    present[index] = true;
    values[index] = attribute.value;
    if (!Coerce(decl, values[index]))
      return Fail(Code::kAttributeType, decl,
                  Subject(signature, decl, std::nullopt) + " must be " + KindPhrase(decl) +
                      ", got " + ValuePhrase(attribute.value));
    if (llvm::Error error = CheckValue(signature, decl, values[index])) return error;
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < values.size(); ++i) {
    const AttributeDecl& decl = signature.attributes[i];
    if (present[i]) continue;
    if (decl.required()) missing.push_back("'" + decl.name + "': " + decl.ToString());
    values[i] = decl.default_value;
  }
  if (missing.empty()) return values;
  auto error = std::make_unique<CallError>(
      Code::kMissingAttribute, "'" + signature.name + "' needs the attribute" +
                                   (missing.size() == 1 ? " " : "s ") + llvm::join(missing, ", "));
  error->is_whole = true;
  return llvm::Error(std::move(error));
}

}  // namespace pdl
