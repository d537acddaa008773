#include "pdl/op_def.h"

#include <climits>

#include "llvm/ADT/StringExtras.h"

namespace pdl {
namespace {

template <typename Decl>
int FindByName(const std::vector<Decl>& decls, llvm::StringRef name) {
  for (size_t i = 0; i < decls.size(); ++i)
    if (decls[i].name == name) return static_cast<int>(i);
  return -1;
}

/// Bounds of int attributes print as ints.
std::string BoundToString(AttributeKind kind, double value) {
  if (kind == AttributeKind::kInt) return std::to_string(static_cast<int64_t>(value));
  std::string text = FloatToString(value);
  llvm::StringRef short_text = text;
  short_text.consume_back(".0");
  return short_text.str();
}

}  // namespace

std::string AttributeDecl::ToString() const {
  std::string text = AttributeKindName(kind).str();
  if (is_list) text = "[" + text + "]";
  if (optional) text += "?";
  if (!choices.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& choice : choices) quoted.push_back("\"" + choice + "\"");
    // A shape may be given as one of the words.
    text += kind == AttributeKind::kShape ? " or " + llvm::join(quoted, " or ")
                                          : " in [" + llvm::join(quoted, ", ") + "]";
  } else if (lower && upper && !lower->open) {
    text += " in " + BoundToString(kind, lower->value) + (upper->open ? ".." : "..=") +
            BoundToString(kind, upper->value);
  } else {
    if (lower) text += (lower->open ? " > " : " >= ") + BoundToString(kind, lower->value);
    if (lower && upper) text += " and";
    if (upper) text += (upper->open ? " < " : " <= ") + BoundToString(kind, upper->value);
  }
  if (!required()) text += " = " + AttributeToString(default_value);
  return text;
}

int OpSignature::FindAttribute(llvm::StringRef attribute) const {
  return FindByName(attributes, attribute);
}
int OpSignature::FindInput(llvm::StringRef input) const { return FindByName(inputs, input); }
int OpSignature::FindOutput(llvm::StringRef output) const { return FindByName(outputs, output); }

int OpSignature::PositionalAttribute() const {
  for (size_t i = 0; i < attributes.size(); ++i)
    if (attributes[i].positional) return static_cast<int>(i);
  return -1;
}

size_t OpSignature::NumResults(llvm::ArrayRef<AttributeValue> values) const {
  const size_t fixed = outputs.size() - (results_from.empty() ? 0 : 1);
  for (const std::string& name : results_from) {
    const AttributeValue& value = values[static_cast<size_t>(FindAttribute(name))];
    if (const auto* count = std::get_if<int64_t>(&value))
      return fixed + static_cast<size_t>(std::max<int64_t>(*count, 0));
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return fixed + list->size();
    if (const auto* shape = std::get_if<Shape>(&value)) return fixed + shape->size();
  }
  return results_from.empty() ? fixed : fixed + 1;
}

unsigned OpSignature::MinOperands() const {
  unsigned count = 0;
  for (const InputDecl& input : inputs)
    if (!input.optional) ++count;
  return count;
}

unsigned OpSignature::MaxOperands() const {
  if (!inputs.empty() && inputs.back().repeatable) return UINT_MAX;
  return static_cast<unsigned>(inputs.size());
}

}  // namespace pdl
