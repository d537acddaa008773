#include "pdl/op/op_def.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/type.h"

namespace pdl {
namespace {

template <typename Decl>
int FindByName(const std::vector<Decl>& decls, llvm::StringRef name) {
  for (size_t i = 0; i < decls.size(); ++i)
    if (decls[i].name == name) return static_cast<int>(i);
  return -1;
}

/// Without the `.0` of a float that is an integer.
std::string NumberToString(const AttributeNumber& number) {
  if (const auto* integer = std::get_if<int64_t>(&number)) return std::to_string(*integer);
  const std::string text = FloatToString(std::get<double>(number));
  llvm::StringRef short_text = text;
  short_text.consume_back(".0");
  return short_text.str();
}

/// The dims that an output has according to `dims_of`; nullopt if it names no operand of the call.
std::optional<Shape> DeclaredDims(const OpSignature& signature, const OutputDecl& output,
                                  llvm::ArrayRef<const Type*> operands,
                                  llvm::ArrayRef<AttributeValue> attributes) {
  if (const int input = signature.FindInput(output.dims_of); input >= 0) {
    const size_t first = signature.FirstOperand(static_cast<size_t>(input), attributes);
    return first < operands.size() ? std::optional(operands[first]->dims) : std::nullopt;
  }
  const int attribute = signature.FindAttribute(output.dims_of);
  const auto* shape =
      attribute < 0 ? nullptr : std::get_if<Shape>(&attributes[static_cast<size_t>(attribute)]);
  return shape ? std::optional(*shape) : std::nullopt;
}

/// As DeclaredDims, for the dtype.
std::optional<DType> DeclaredDType(const OpSignature& signature, const OutputDecl& output,
                                   llvm::ArrayRef<const Type*> operands,
                                   llvm::ArrayRef<AttributeValue> attributes) {
  if (output.dtype) return output.dtype;
  if (const int input = signature.FindInput(output.dtype_of); input >= 0) {
    const size_t first = signature.FirstOperand(static_cast<size_t>(input), attributes);
    return first < operands.size() ? std::optional(operands[first]->dtype) : std::nullopt;
  }
  const int attribute = signature.FindAttribute(output.dtype_of);
  const auto* dtype =
      attribute < 0 ? nullptr : std::get_if<DType>(&attributes[static_cast<size_t>(attribute)]);
  return dtype ? std::optional(*dtype) : std::nullopt;
}

/// Whether each dim is that of some operand at the same index from the end, or 1 if all are 1.
bool IsBroadcastOf(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<const Type*> operands) {
  size_t rank = 0;
  for (const Type* operand : operands) rank = std::max(rank, size_t{operand->rank()});
  if (dims.size() != rank) return false;
  for (size_t i = 0; i < rank; ++i) {
    bool all_one = true, found = false;
    for (const Type* operand : operands) {
      if (operand->rank() + i < rank) continue;
      const Dim& dim = operand->dims[operand->rank() + i - rank];
      all_one &= dim.is_constant(1);
      found |= dim == dims[i];
    }
    if (!found || (dims[i].is_constant(1) && !all_one)) return false;
  }
  return true;
}

std::partial_ordering CompareWithInt(double a, int64_t b) {
  // Below 2**63 the integral part of `a` is an int64_t.
  constexpr double kEnd = 0x1p63;
  if (std::isnan(a)) return std::partial_ordering::unordered;
  if (a >= kEnd) return std::partial_ordering::greater;
  if (a < -kEnd) return std::partial_ordering::less;
  const double whole = std::trunc(a);
  if (const auto integer = static_cast<int64_t>(whole); integer != b) return integer <=> b;
  return a <=> whole;
}

}  // namespace

std::string FaultOfOutputs(const OpSignature& signature, llvm::ArrayRef<const Type*> operands,
                           llvm::ArrayRef<AttributeValue> attributes,
                           llvm::ArrayRef<const Type*> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const OutputDecl& output = signature.output(i);
    const Type& type = *results[i];
    auto fault = [&](const llvm::Twine& declared) {
      return ("output '" + output.name + "' is declared with " + declared + ", and is " +
              type.ToString())
          .str();
    };
    const std::optional<DType> dtype = DeclaredDType(signature, output, operands, attributes);
    if (!dtype && !output.dtype_of.empty())
      return fault("the dtype of '" + output.dtype_of + "', which the call does not have");
    if (dtype && *dtype != type.dtype) return fault("dtype " + DTypeName(*dtype));
    if (output.rank && *output.rank != type.rank())
      return fault(llvm::Twine(*output.rank) + " dims");
    if (output.is_broadcast && !IsBroadcastOf(type.dims, operands))
      return fault("the broadcast dims of the operands");
    if (output.dims_of.empty()) continue;
    const std::optional<Shape> dims = DeclaredDims(signature, output, operands, attributes);
    if (!dims || *dims != type.dims)
      return fault("the dims of '" + output.dims_of + "', " +
                   (dims ? ShapeToString(*dims) : "none"));
  }
  return "";
}

std::partial_ordering Compare(const AttributeNumber& a, const AttributeNumber& b) {
  const auto* int_a = std::get_if<int64_t>(&a);
  const auto* int_b = std::get_if<int64_t>(&b);
  if (int_a && int_b) return *int_a <=> *int_b;
  if (int_b) return CompareWithInt(std::get<double>(a), *int_b);
  if (int_a) return 0 <=> CompareWithInt(std::get<double>(b), *int_a);
  return std::get<double>(a) <=> std::get<double>(b);
}

bool AttributeDecl::Admits(const AttributeNumber& number) const {
  if (lower) {
    const std::partial_ordering order = Compare(number, lower->value);
    if (!(lower->open ? order > 0 : order >= 0)) return false;
  }
  if (upper) {
    const std::partial_ordering order = Compare(number, upper->value);
    if (!(upper->open ? order < 0 : order <= 0)) return false;
  }
  return true;
}

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
    text += " in " + NumberToString(lower->value) + (upper->open ? ".." : "..=") +
            NumberToString(upper->value);
  } else {
    if (lower) text += (lower->open ? " > " : " >= ") + NumberToString(lower->value);
    if (lower && upper) text += " and";
    if (upper) text += (upper->open ? " < " : " <= ") + NumberToString(upper->value);
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
