#include "pdl/op/op_proto_maker.h"

#include <set>

#include "pdl/op/attribute_reader.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

[[noreturn]] void Contradiction(llvm::StringRef op, const std::string& what) {
  InternalError("the declaration of operator '" + op.str() + "' is inconsistent: " + what);
}

void CheckAttributeDecl(const OpSignature& signature, const AttributeDecl& decl) {
  const std::string& op = signature.name;
  bool number = decl.kind == AttributeKind::kInt || decl.kind == AttributeKind::kFloat;
  if ((decl.lower || decl.upper) && !number)
    Contradiction(op, "a range on '" + decl.name + "', which is not a number");
  if (!decl.choices.empty() && decl.kind != AttributeKind::kString &&
      decl.kind != AttributeKind::kShape)
    Contradiction(op, "choices for '" + decl.name + "', which is neither a string nor a shape");
  if (decl.comment.empty()) Contradiction(op, "'" + decl.name + "' has no comment");
  if (!decl.dtype_from.empty()) {
    int other = signature.FindAttribute(decl.dtype_from);
    if (other < 0 || signature.attributes[other].kind != AttributeKind::kDType)
      Contradiction(
          op, "'" + decl.name + "' takes its dtype from something other than a dtype attribute");
  }
}

void CheckSignature(const OpSignature& signature) {
  const std::string& op = signature.name;
  if (signature.comment.empty()) Contradiction(op, "it has no comment");
  if (signature.outputs.empty()) Contradiction(op, "it has no output");
  std::set<std::string> names;
  auto take = [&](const std::string& name) {
    if (!names.insert(name).second)
      Contradiction(op, "two declarations have the name '" + name + "'");
  };
  bool optional_before = false;
  for (const InputDecl& input : signature.inputs) {
    take(input.name);
    if (!input.count.empty()) {
      const int count = signature.FindAttribute(input.count);
      if (count < 0 || !signature.attributes[count].counted)
        Contradiction(op, "'" + input.name + "' has a count that is not a counted attribute");
    } else if (signature.has_counts() && input.repeatable) {
      Contradiction(
          op, "'" + input.name + "' is repeatable without a count, but another input has one");
    }
    if (input.repeatable && input.count.empty() && &input != &signature.inputs.back())
      Contradiction(op, "'" + input.name + "' is repeatable but not the last input");
    if (optional_before && !input.optional)
      Contradiction(op, "'" + input.name + "' is required after an optional input");
    optional_before = input.optional;
  }
  for (const AttributeDecl& decl : signature.attributes) {
    take(decl.name);
    CheckAttributeDecl(signature, decl);
    if (decl.counted && (decl.kind != AttributeKind::kInt || decl.is_list))
      Contradiction(op, "'" + decl.name + "' is counted but not an int");
    const bool is_named_axis = decl.name == "axis" || decl.name == "axes";
    if (is_named_axis && !decl.is_axis && !signature.inputs.empty() &&
        signature.inputs[0].ragged_levels > 0)
      Contradiction(op, "'" + decl.name + "' of a ragged input is not declared as an Axis()");
  }
  std::set<std::string> outputs;
  for (const OutputDecl& output : signature.outputs)
    if (!outputs.insert(output.name).second)
      Contradiction(op, "two outputs have the name '" + output.name + "'");
}

void CheckProperties(const OpSignature& signature) {
  const std::string& op = signature.name;
  const OpProperties& properties = signature.properties;
  if (properties.reduced_precision == ReducedPrecision::kFollow && !properties.moves_elements)
    Contradiction(op, "it follows its operands to f16, but does more than move elements");
  if (properties.elementwise && signature.outputs.size() != 1)
    Contradiction(op, "it is elementwise but has more than one output");
  if (properties.zero_rule != nullptr && !properties.elementwise)
    Contradiction(op, "it has a rule for zeros but is not elementwise");
}

/// Each default must pass the checks for values of a caller.
void CheckDefaults(const OpSignature& signature) {
  OpSignature only_defaults = signature;
  std::vector<NamedAttribute> given;
  for (const AttributeDecl& decl : signature.attributes)
    if (!IsNone(decl.default_value)) given.push_back({decl.name, decl.default_value});
  for (AttributeDecl& decl : only_defaults.attributes) decl.optional |= decl.required();
  auto values = CompleteAttributes(only_defaults, given);
  if (!values) Contradiction(signature.name, llvm::toString(values.takeError()));
}

}  // namespace

InputBuilder OpProtoMaker::AddInput(std::string name, std::string comment) {
  InputDecl decl;
  decl.name = std::move(name);
  decl.comment = std::move(comment);
  def_.signature.inputs.push_back(std::move(decl));
  return InputBuilder(&def_.signature.inputs.back());
}

OutputBuilder OpProtoMaker::AddOutput(std::string name, std::string comment) {
  def_.signature.outputs.push_back({std::move(name), std::move(comment)});
  return OutputBuilder(&def_.signature.outputs.back());
}

AttributeDecl* OpProtoMaker::AddAttribute(std::string name, std::string comment, AttributeKind kind,
                                          bool is_list) {
  AttributeDecl decl;
  decl.name = std::move(name);
  decl.comment = std::move(comment);
  decl.kind = kind;
  decl.is_list = is_list;
  def_.signature.attributes.push_back(std::move(decl));
  return &def_.signature.attributes.back();
}

OpDef OpProtoMaker::Build(llvm::StringRef name) {
  def_ = OpDef();
  def_.signature.name = name.str();
  Make();
  for (InputDecl& input : def_.signature.inputs) {
    if (properties().elementwise) input.ragged_levels = kMaxRaggedLevels;
    input.differentiable &= input.dtypes.Intersects(kFloats);
  }
  CheckSignature(def_.signature);
  CheckProperties(def_.signature);
  CheckDefaults(def_.signature);
  if (!def_.infer) Contradiction(name, "it has no type inference");
  if (def_.body && (def_.signature.BlockAttribute() < 0 || !def_.signature.has_counts()))
    Contradiction(name, "it has a rule for a block, but no Block attribute or no counted inputs");
  return std::move(def_);
}

}  // namespace pdl
