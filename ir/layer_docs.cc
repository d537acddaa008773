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

std::string KindsOf(const LayerInputDecl& input) {
  std::vector<std::string> kinds;
  for (Kind kind : input.kinds) {
    kinds.push_back(kind == Kind::kDense    ? "dense"
                    : kind == Kind::kSparse ? "sparse"
                    : kind == Kind::kIndex  ? "indices"
                                            : "sparse with ones only");
  }
  std::string text = llvm::join(kinds, ", ");
  if (input.sequence_levels > 0) {
    text += "; up to " + std::to_string(input.sequence_levels) +
            (input.sequence_levels == 1 ? " ragged dim" : " ragged dims");
  }
  return text;
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
    std::vector<std::string> names;
    for (const OutputDecl& output : layer.outputs) names.push_back("`" + output.name + "`");
    os << (names.size() == 1 ? "Output: " : "Outputs: ") << llvm::join(names, ", ") << ".\n";
  }
  if (!layer.constraints.empty())
    os << "\nConstraints: `" << llvm::join(layer.constraints, "`, `") << "`.\n";
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
  if (!layer.attributes.empty()) text += "\nAttributes\n";
  for (const LayerAttributeDecl& attribute : layer.attributes) {
    text += "  " + attribute.decl.name + ": " + DeclarationOf(attribute) +
            (attribute.required() ? "  (required)" : "") + "\n";
    if (!attribute.decl.comment.empty()) AppendWrapped(attribute.decl.comment, 6, width, &text);
  }
  if (!layer.outputs.empty()) text += "\nOutputs\n";
  for (const OutputDecl& output : layer.outputs) {
    text += "  " + output.name + "\n";
    if (!output.comment.empty()) AppendWrapped(output.comment, 6, width, &text);
  }
  if (!layer.parameter_attributes.empty()) {
    text += "\nParameter attributes\n";
    AppendWrapped(RecordOf(layer.parameter_attributes), 2, width, &text);
  }
  if (!layer.bias_attributes.empty()) {
    text += "\nBias attributes\n";
    AppendWrapped(RecordOf(layer.bias_attributes), 2, width, &text);
  }
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
