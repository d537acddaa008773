#include "pdl/op/op_def.h"

#include <algorithm>
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
  // In source, a Block is a function.
  std::string text = kind == AttributeKind::kBlock ? "function" : AttributeKindName(kind).str();
  if (is_list) text = "[" + text + "]";
  if (optional) text += "?";
  if (!choices.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& choice : choices) quoted.push_back("\"" + choice + "\"");
    // A shape may also be one of the words.
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
    if (!input.optional && input.count.empty()) ++count;
  return count;
}

size_t OpSignature::FirstOperand(size_t input, llvm::ArrayRef<AttributeValue> values) const {
  size_t first = 0;
  for (size_t i = 0; i < input; ++i) {
    const int count = inputs[i].count.empty() ? -1 : FindAttribute(inputs[i].count);
    const auto* given =
        count < 0 ? nullptr : std::get_if<int64_t>(&values[static_cast<size_t>(count)]);
    first += given ? static_cast<size_t>(std::max<int64_t>(*given, 0)) : count < 0 ? 1 : 0;
  }
  return first;
}

const InputDecl& OpSignature::InputOf(size_t operand, llvm::ArrayRef<AttributeValue> values) const {
  if (!has_counts()) return inputs[std::min(operand, inputs.size() - 1)];
  size_t input = inputs.size() - 1;
  while (input > 0 && FirstOperand(input, values) > operand) --input;
  return inputs[input];
}

int OpSignature::BlockAttribute() const {
  for (size_t i = 0; i < attributes.size(); ++i)
    if (attributes[i].kind == AttributeKind::kBlock && !attributes[i].is_list)
      return static_cast<int>(i);
  return -1;
}

unsigned OpSignature::MaxOperands() const {
  if (has_counts() || (!inputs.empty() && inputs.back().repeatable)) return UINT_MAX;
  return static_cast<unsigned>(inputs.size());
}

}  // namespace pdl
