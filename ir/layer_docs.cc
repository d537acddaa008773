// Documentation of layers, generated from their declarations.
#include "ir/doc_text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/op_docs.h"

namespace pdl {
namespace {

using Kind = LayerInputDecl::Kind;

std::string DeclarationOf(const LayerAttributeDecl& attribute) {
  return attribute.type + (attribute.default_text.empty() ? "" : " = " + attribute.default_text);
}

std::string InputName(const LayerInputDecl& input) {
  return input.name + (input.repeatable ? "..." : "") +
         (input.optional() ? " = " + input.default_text : "");
}

/// "; up to 2 ragged dims"; empty for dense values only.
std::string LevelsOf(llvm::ArrayRef<unsigned> levels) {
  if (levels.empty() || levels.back() == 0) return "";
  const bool is_all = levels.size() == levels.back() + 1;
  std::string text = is_all ? "; up to " + std::to_string(levels.back()) : "; ";
  if (!is_all) {
    for (const unsigned& level : levels)
      text += (&level == levels.begin() ? "" : " or ") + std::to_string(level);
  }
  return text + (levels.back() == 1 ? " ragged dim" : " ragged dims");
}

std::string KindsOf(const LayerInputDecl& input) {
  std::vector<std::string> kinds;
  for (Kind kind : input.kinds) {
    kinds.push_back(kind == Kind::kDense    ? "dense"
                    : kind == Kind::kSparse ? "sparse"
                    : kind == Kind::kIndex  ? "indices"
                                            : "sparse with ones only");
  }
  std::string text = llvm::join(kinds, ", ");
  return text + LevelsOf(input.levels);
}

/// "{init: function, weight_decay: float in 0..=1 = 0.0}".
std::string RecordOf(llvm::ArrayRef<LayerAttributeDecl> fields) {
  std::vector<std::string> parts;
  for (const LayerAttributeDecl& field : fields)
    parts.push_back(field.decl.name + ": " + DeclarationOf(field));
  return "{" + llvm::join(parts, ", ") + "}";
}

void AppendMarkdown(const LayerSignature& layer, std::string* out) {
  llvm::raw_string_ostream os(*out);
  os << "## " << layer.name << "\n\n```\n" << LayerCallToString(layer) << "\n```\n\n";
  if (!layer.comment.empty()) os << layer.comment << "\n\n";
  if (!layer.inputs.empty()) {
    os << "| input | type | accepts | meaning |\n|---|---|---|---|\n";
    for (const LayerInputDecl& input : layer.inputs)
      os << "| `" << InputName(input) << "` | `" << Cell(input.type) << "` | "
         << Cell(KindsOf(input)) << " | " << Cell(input.comment) << " |\n";
    os << "\n";
  }
  if (!layer.attributes.empty()) {
    os << "| attribute | type, range and default | meaning |\n|---|---|---|\n";
    for (const LayerAttributeDecl& attribute : layer.attributes)
      os << "| `" << attribute.decl.name << "` | `" << Cell(DeclarationOf(attribute)) << "` | "
         << Cell(attribute.decl.comment) << " |\n";
    os << "\n";
  }
  if (!layer.outputs.empty()) {
    os << "| output | meaning |\n|---|---|\n";
    for (const OutputDecl& output : layer.outputs)
      os << "| `" << output.name << "` | " << Cell(output.comment) << " |\n";
  }
  if (!layer.constraints.empty())
    os << "\nConstraints: `" << llvm::join(layer.constraints, "`, `") << "`.\n";
  if (!layer.parameter_attributes.empty())
    os << "\nParameter attributes: `" << RecordOf(layer.parameter_attributes) << "`.\n";
  if (!layer.bias_attributes.empty())
    os << "\nBias attributes: `" << RecordOf(layer.bias_attributes) << "`.\n";
}

/// The attributes, each with its description.
void AppendAttributes(llvm::ArrayRef<LayerAttributeDecl> attributes, llvm::StringRef title,
                      unsigned width, std::string* out) {
  if (!attributes.empty()) *out += "\n" + title.str() + "\n";
  for (const LayerAttributeDecl& attribute : attributes) {
    *out += "  " + attribute.decl.name + ": " + DeclarationOf(attribute) +
            (attribute.required() ? "  (required)" : "") + "\n";
    if (!attribute.decl.comment.empty()) AppendWrapped(attribute.decl.comment, 6, width, out);
  }
}

}  // namespace

std::string LayerCallToString(const LayerSignature& layer) {
  std::vector<std::string> arguments;
  for (const LayerInputDecl& input : layer.inputs) arguments.push_back(InputName(input));
  for (const LayerAttributeDecl& attribute : layer.attributes)
    arguments.push_back(attribute.decl.name + ": " + DeclarationOf(attribute));
  std::vector<std::string> outputs;
  for (const OutputDecl& output : layer.outputs) outputs.push_back(output.name);
  std::string text = layer.name + "(" + llvm::join(arguments, ", ") + ")";
  return outputs.empty() ? text : text + " -> " + llvm::join(outputs, ", ");
}

std::string LayerDocText(const LayerSignature& layer, unsigned width) {
  std::string text = LayerCallToString(layer) + "\n\n";
  if (!layer.comment.empty()) AppendWrapped(layer.comment, 2, width, &text);
  if (!layer.inputs.empty()) text += "\nInputs\n";
  for (const LayerInputDecl& input : layer.inputs) {
    text += "  " + InputName(input) + ": " + input.type + "\n";
    if (!input.comment.empty()) AppendWrapped(input.comment, 6, width, &text);
    AppendWrapped(KindsOf(input), 6, width, &text);
  }
  if (!layer.constraints.empty())
    text += "\nConstraints\n  " + llvm::join(layer.constraints, "\n  ") + "\n";
  AppendAttributes(layer.attributes, "Attributes", width, &text);
  if (!layer.outputs.empty()) text += "\nOutputs\n";
  for (const OutputDecl& output : layer.outputs) {
    text += "  " + output.name + "\n";
    if (!output.comment.empty()) AppendWrapped(output.comment, 6, width, &text);
  }
  AppendAttributes(layer.parameter_attributes, "Parameter attributes", width, &text);
  AppendAttributes(layer.bias_attributes, "Bias attributes", width, &text);
  return text;
}

std::string LayerListText(llvm::ArrayRef<LayerSignature> layers, unsigned width) {
  std::vector<DocListEntry> entries;
  for (const LayerSignature& layer : layers) entries.push_back({layer.name, layer.comment});
  return DocList(entries, width);
}

std::string LayerDocsMarkdown(llvm::ArrayRef<LayerSignature> layers) {
  std::string text = "# Layers\n";
  for (const LayerSignature& layer : layers) {
    text += "\n";
    AppendMarkdown(layer, &text);
  }
  return text;
}

}  // namespace pdl
