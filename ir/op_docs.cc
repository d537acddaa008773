#include "pdl/op/op_docs.h"

#include <map>

#include "ir/doc_text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/lowering.h"

namespace pdl {
namespace {

/// An attribute's declaration without its name: "float > 0 = 1.0"; a large tensor default is
/// abbreviated.
std::string DeclarationOf(const AttributeDecl& decl) {
  constexpr int64_t kMaxElements = 16;
  const auto* tensor = std::get_if<Constant>(&decl.default_value);
  if (!tensor || tensor->num_elements() <= kMaxElements) return decl.ToString();
  AttributeDecl without = decl;
  without.default_value = AttributeValue();
  without.optional = false;
  return without.ToString() + " = <" + std::to_string(tensor->num_elements()) + " elements>";
}

std::string KindsOf(const OpDef& def, const InputDecl& input) {
  std::string text = input.dtypes == kAnyDType ? "any dtype" : input.dtypes.ToString();
  const llvm::StringRef ragged = input.ragged_levels == 1 ? "ragged at one level" : "ragged";
  if (input.min_ragged_levels > 0) {
    text += "; " + ragged.str() + " only";
  } else if (input.ragged_levels > 0 && input.accepts_sparse) {
    text += "; dense, sparse or " + ragged.str();
  } else if (input.ragged_levels > 0) {
    text += "; dense or " + ragged.str();
  } else if (input.accepts_sparse) {
    text += "; dense or sparse";
  }
  if (IsDifferentiable(def) && !input.differentiable && input.dtypes.Intersects(kFloats))
    text += "; no gradient";
  return text;
}

std::string InputName(const InputDecl& input) {
  return input.name + (input.repeatable ? "..." : "") + (input.optional ? " = none" : "");
}

/// The tests verify the declared order of pdl's own operators, which have a family.
std::string DerivativeText(const OpDef& def) {
  if (def.gradient_order == 0) return "differentiable";
  return (def.signature.family.empty() ? "differentiable, declared to order "
                                       : "differentiable, verified to order ") +
         std::to_string(def.gradient_order);
}

/// The declared properties of an output's type: "type of x", "i64, scalar", "dtype from to, dims of
/// x".
std::string TypeText(const OpSignature& signature, const OutputDecl& output) {
  const auto source = [&](const std::string& name) {
    return (signature.FindInput(name) >= 0 ? " of " : " from ") + name;
  };
  if (!output.dtype_of.empty() && output.dtype_of == output.dims_of)
    return "type" + source(output.dtype_of);
  std::vector<std::string> parts;
  if (output.dtype) parts.push_back(DTypeName(*output.dtype).str());
  if (!output.dtype_of.empty()) parts.push_back("dtype" + source(output.dtype_of));
  if (output.rank)
    parts.push_back(*output.rank == 0
                        ? "scalar"
                        : std::to_string(*output.rank) + (*output.rank == 1 ? " dim" : " dims"));
  if (output.is_broadcast) parts.push_back("dims broadcast");
  if (!output.dims_of.empty()) parts.push_back("dims" + source(output.dims_of));
  return llvm::join(parts, ", ");
}

std::string PropertiesText(const OpDef& def) {
  std::vector<std::string> found;
  const OpProperties& properties = def.properties();
  if (properties.elementwise) found.push_back("elementwise");
  if (properties.commutative) found.push_back("commutative");
  if (properties.random) found.push_back("random: sampled anew in each run, never merged");
  if (properties.has_side_effect) found.push_back("has a side effect, and is never removed");
  if (properties.is_training_flag || properties.is_plan_select)
    found.push_back("decided when a run is planned, on every device");
  if (properties.moves_elements) found.push_back("moves elements");
  if (properties.reduced_precision == ReducedPrecision::kCompute)
    found.push_back("computed in f16 or bf16 with mixed precision");
  if (!properties.onnx_name.empty()) found.push_back(properties.onnx_name + " in ONNX");
  if (def.gradient == nullptr && IsAlwaysLowered(def))
    found.push_back("lowered to other calls before a run");
  found.push_back(IsDifferentiable(def) ? DerivativeText(def) : "not differentiable");
  return llvm::join(found, "; ");
}

std::string UlpText(const OpSignature& signature) {
  std::string text;
  llvm::raw_string_ostream(text) << "In f32, the largest error is "
                                 << llvm::format("%.3g", signature.max_ulp) << " ulp";
  return text;
}

void AppendMarkdown(const OpDef& def, std::string* out) {
  const OpSignature& signature = def.signature;
  llvm::raw_string_ostream os(*out);
  os << "### " << signature.name << "\n\n```\n" << OpCallToString(signature) << "\n```\n\n";
  os << signature.comment << "\n\n";
  if (!signature.inputs.empty()) {
    os << "| input | accepts | meaning |\n|---|---|---|\n";
    for (const InputDecl& input : signature.inputs)
      os << "| `" << InputName(input) << "` | " << Cell(KindsOf(def, input)) << " | "
         << Cell(input.comment) << " |\n";
    os << "\n";
  }
  if (!signature.attributes.empty()) {
    os << "| attribute | type, range and default | meaning |\n|---|---|---|\n";
    for (const AttributeDecl& decl : signature.attributes) {
      if (decl.counted) continue;
      os << "| `" << decl.name << "` | `" << Cell(DeclarationOf(decl)) << "`"
         << (decl.positional ? ", by position too" : "") << " | " << Cell(decl.comment) << " |\n";
    }
    os << "\n";
  }
  if (!signature.outputs.empty()) {
    os << "| output | type | meaning |\n|---|---|---|\n";
    for (const OutputDecl& output : signature.outputs)
      os << "| `" << output.name << "` | " << Cell(TypeText(signature, output)) << " | "
         << Cell(output.comment) << " |\n";
    os << "\n";
  }
  if (!signature.examples.empty()) {
    os << "```pdl\n" << llvm::join(signature.examples, "\n\n") << "\n```\n\n";
  }
  os << "Properties: " << PropertiesText(def) << ".\n";
  if (signature.max_ulp > 0) os << "\n" << UlpText(signature) << ".\n";
}

}  // namespace

std::string OpCallToString(const OpSignature& signature) {
  std::vector<std::string> arguments;
  for (const InputDecl& input : signature.inputs) arguments.push_back(InputName(input));
  for (const AttributeDecl& decl : signature.attributes)
    if (!decl.counted) arguments.push_back(decl.name + ": " + DeclarationOf(decl));
  std::vector<std::string> outputs;
  for (const OutputDecl& output : signature.outputs) outputs.push_back(output.name);
  if (!signature.results_from.empty()) outputs.back() += "...";
  std::string text = signature.name + "(" + llvm::join(arguments, ", ") + ")";
  return outputs.empty() ? text : text + " -> " + llvm::join(outputs, ", ");
}

std::string OpDocText(const OpDef& def, unsigned width) {
  const OpSignature& signature = def.signature;
  std::string text = OpCallToString(signature) + "\n\n";
  AppendWrapped(signature.comment, 2, width, &text);
  if (!signature.inputs.empty()) text += "\nInputs\n";
  for (const InputDecl& input : signature.inputs) {
    text += "  " + InputName(input) + ": " + KindsOf(def, input) + "\n";
    AppendWrapped(input.comment, 6, width, &text);
  }
  if (!signature.attributes.empty()) text += "\nAttributes\n";
  for (const AttributeDecl& decl : signature.attributes) {
    if (decl.counted) continue;
    text += "  " + decl.name + ": " + DeclarationOf(decl) +
            (decl.required() ? "  (required)" : "") +
            (decl.positional ? "  (may be given by position)" : "") + "\n";
    AppendWrapped(decl.comment, 6, width, &text);
  }
  if (!signature.outputs.empty()) text += "\nOutputs\n";
  for (const OutputDecl& output : signature.outputs) {
    const std::string type = TypeText(signature, output);
    text += "  " + output.name + (type.empty() ? "" : ": " + type) + "\n";
    AppendWrapped(output.comment, 6, width, &text);
  }
  if (!signature.examples.empty()) text += "\nExamples\n";
  for (const std::string& example : signature.examples) {
    for (llvm::StringRef line : llvm::split(example, '\n')) text += "  " + line.str() + "\n";
  }
  text += "\nProperties\n";
  AppendWrapped(PropertiesText(def), 2, width, &text);
  if (signature.max_ulp > 0) AppendWrapped(UlpText(signature), 2, width, &text);
  return text;
}

std::string OpListText(const OpRegistry& registry, unsigned width) {
  std::vector<DocListEntry> entries;
  for (const OpDef* def : registry.All()) entries.push_back({def->name(), def->signature.comment});
  return DocList(entries, width);
}

std::string OpDocsText(const OpRegistry& registry, unsigned width) {
  std::string text;
  for (const OpDef* def : registry.All())
    text += (text.empty() ? "" : "\n" + std::string(width, '-') + "\n\n") + OpDocText(*def, width);
  return text;
}

std::string OpDocsMarkdown(const OpRegistry& registry) {
  std::map<std::string, std::vector<const OpDef*>> families;
  for (const OpDef* def : registry.All()) families[def->signature.family].push_back(def);
  std::string text = "# Operators\n";
  for (const auto& [family, defs] : families) {
    if (!family.empty()) text += "\n## " + family + "\n";
    for (const OpDef* def : defs) {
      text += "\n";
      AppendMarkdown(*def, &text);
    }
  }
  return text;
}

}  // namespace pdl
