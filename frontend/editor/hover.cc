// Documentation of the name at a position.
#include "frontend/editor/analysis_data.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "pdl/op/attribute.h"
#include "pdl/op/op_docs.h"

namespace pdl {
namespace {

std::string CodeBlock(const llvm::Twine& code) { return ("```pdl\n" + code + "\n```\n").str(); }

/// One line for a cell of a table.
std::string Cell(llvm::StringRef source) {
  std::string cell;
  for (char c : source) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

std::string InCode(llvm::StringRef source) {
  return source.empty() ? "" : "`" + Cell(source) + "`";
}

/// "1.5 MiB".
std::string ByteSize(int64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return unit == 0 ? llvm::formatv("{0} bytes", bytes).str()
                   : llvm::formatv("{0:f1} {1}", size, kUnits[unit]).str();
}

/// The types of a call: "(f32[N, 2], f32[2, 8]) -> f32[N, 8]".
std::string CallTypes(const CallFact::Types& types) {
  std::vector<std::string> results;
  for (const auto& [name, type] : types.results)
    results.push_back(types.results.size() > 1 && !name.empty() ? name + ": " + type : type);
  return "(" + llvm::join(types.operands, ", ") + ") -> " + llvm::join(results, ", ");
}

std::string CallsHere(const CallFact* fact) {
  if (fact == nullptr || fact->types.empty()) return "";
  std::string calls;
  for (const CallFact::Types& types : fact->types) calls += CallTypes(types) + "\n";
  if (fact->has_more) calls += "…\n";
  return "\nHere:\n" + CodeBlock(llvm::StringRef(calls).rtrim());
}

std::string DescribeOperator(const OpDef& def, const CallFact* fact) {
  const OpSignature& signature = def.signature;
  std::string hover = CodeBlock(OpCallToString(signature)) + signature.comment + "\n";
  hover += CallsHere(fact);
  if (signature.attributes.empty()) return hover;
  const bool has_values = fact != nullptr && fact->attributes.size() == signature.attributes.size();
  hover += has_values ? "\n| attribute | type | here | |\n|---|---|---|---|\n"
                      : "\n| attribute | type | |\n|---|---|---|\n";
  for (const auto& [index, attribute] : llvm::enumerate(signature.attributes)) {
    if (attribute.counted) continue;
    hover += "| `" + attribute.name + "` | " + InCode(attribute.ToString()) + " | ";
    if (has_values) {
      const AttributeValue& value = fact->attributes[index];
      const bool is_shown = !IsNone(value) && KindOf(value) != AttributeKind::kTensor &&
                            KindOf(value) != AttributeKind::kBlock;
      hover += (is_shown ? InCode(AttributeToString(value)) : "") + " | ";
    }
    hover += Cell(attribute.comment) + " |\n";
  }
  return hover;
}

std::string DescribeLayer(const LayerSignature& layer, const CallFact* fact) {
  std::string hover = CodeBlock(LayerCallToString(layer)) + layer.comment + "\n";
  hover += CallsHere(fact);
  if (layer.attributes.empty()) return hover;
  hover += "\n| attribute | type | |\n|---|---|---|\n";
  for (const LayerAttributeDecl& attribute : layer.attributes) {
    const std::string type = attribute.default_text.empty()
                                 ? attribute.type
                                 : attribute.type + " = " + attribute.default_text;
    hover += "| `" + attribute.decl.name + "` | " + InCode(type) + " | " +
             Cell(attribute.decl.comment) + " |\n";
  }
  return hover;
}

std::string DescribeArgument(const SourceAnalysis::Data& data, const Symbol& symbol) {
  const OpDef* def = data.registry->Find(data.symbols.symbols[symbol.owner].name);
  if (def == nullptr) return "";
  const OpSignature& signature = def->signature;
  if (const int index = signature.FindAttribute(symbol.name); index >= 0) {
    const AttributeDecl& attribute = signature.attributes[static_cast<size_t>(index)];
    return CodeBlock(attribute.name + ": " + attribute.ToString()) + attribute.comment +
           "\n\nattribute of `" + signature.name + "`\n";
  }
  if (const int index = signature.FindInput(symbol.name); index >= 0)
    return CodeBlock(symbol.name) + signature.inputs[static_cast<size_t>(index)].comment +
           "\n\ninput of `" + signature.name + "`\n";
  return "";
}

/// "parameter, defined on line 4 of blocks.pdl".
std::string Origin(const SourceAnalysis::Data& data, const Symbol& symbol,
                   const Occurrence& occurrence) {
  std::string origin = SymbolKindName(symbol.kind).str();
  const auto definitions = data.symbols.DefinitionsOf(occurrence);
  if (definitions.empty()) return origin;
  const Occurrence& definition = *definitions.front();
  const SourceFile& file = *data.symbols.files[definition.file];
  origin += ", defined on line " + std::to_string(file.LineOf(definition.range.begin));
  if (definition.file != occurrence.file)
    origin += " of " + llvm::sys::path::filename(file.name()).str();
  return origin;
}

/// The number of elements and bytes of a parameter or state.
std::string SizeOf(const Type& type) {
  const Dim count = NumElements(type.dims);
  const std::string elements = count.ToString() + " elements";
  if (!count.is_constant()) return elements;
  const Dim bytes = count * DTypeSize(type.dtype);
  return bytes.is_valid() && bytes.is_constant() ? elements + ", " + ByteSize(bytes.constant())
                                                 : elements;
}

std::string DescribeName(const SourceAnalysis::Data& data, const Symbol& symbol,
                         const Occurrence& occurrence) {
  const NameFact* fact = data.FactOf(occurrence);
  std::string type = fact == nullptr ? "" : JoinTypes(*fact);
  if (type.empty()) type = symbol.declaration;
  std::string hover = CodeBlock(symbol.name + (type.empty() ? "" : ": " + type));
  hover += Origin(data, symbol, occurrence);
  if (fact != nullptr && fact->types.empty() && !fact->constant.empty() &&
      symbol.kind != SymbolKind::kSize)
    hover += "; here: " + fact->constant;
  const bool is_variable =
      symbol.kind == SymbolKind::kParameter || symbol.kind == SymbolKind::kState;
  if (fact != nullptr && !fact->types.empty() && is_variable)
    hover += "; " + SizeOf(fact->types.front());
  hover += "\n";
  if (!symbol.doc.empty()) hover += "\n" + symbol.doc + "\n";
  return hover;
}

}  // namespace

std::string DescribeSymbol(const SourceAnalysis::Data& data, const Occurrence& occurrence) {
  const Symbol& symbol = data.symbols.symbols[occurrence.symbol];
  const CallFact* fact =
      data.facts.FindCall(*data.symbols.files[occurrence.file], occurrence.range);
  if (symbol.kind == SymbolKind::kOperator) {
    const OpDef* def = data.registry->Find(symbol.name);
    return def == nullptr ? "`" + symbol.name + "` is a built-in function\n"
                          : DescribeOperator(*def, fact);
  }
  if (symbol.kind == SymbolKind::kArgument) return DescribeArgument(data, symbol);
  if (symbol.kind == SymbolKind::kLayer) {
    const LayerSignature* layer = nullptr;
    for (uint32_t index : symbol.occurrences) {
      const Occurrence& each = data.symbols.occurrences[index];
      if (each.is_definition)
        layer = data.signatures->Find(data.symbols.files[each.file], symbol.name);
    }
    if (layer != nullptr) return DescribeLayer(*layer, fact);
  }
  return DescribeName(data, symbol, occurrence) + CallsHere(fact);
}

std::optional<HoverContent> SourceAnalysis::Hover(uint32_t offset) const {
  const Occurrence* occurrence = data_->symbols.Find(0, offset);
  if (occurrence != nullptr)
    return HoverContent{occurrence->range, DescribeSymbol(*data_, *occurrence)};
  // A path to a parameter.
  const SourceRange word = WordAt(data_->file->text(), offset);
  const NameFact* fact = data_->facts.FindName(*data_->file, word);
  if (fact == nullptr || fact->types.empty()) return std::nullopt;
  std::string hover =
      CodeBlock((fact->variable.empty() ? data_->file->Text(word).str() : fact->variable) + ": " +
                JoinTypes(*fact));
  if (!fact->variable.empty()) hover += SizeOf(fact->types.front()) + "\n";
  return HoverContent{word, std::move(hover)};
}

}  // namespace pdl
