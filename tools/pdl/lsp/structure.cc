#include "tools/pdl/lsp/structure.h"

#include "llvm/ADT/STLExtras.h"
#include "mlir/Tools/lsp-server-support/Protocol.h"
#include "pdl/compiler/layers.h"
#include "tools/pdl/lsp/convert.h"

namespace pdl::lsp {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::OStream;
using llvm::json::Value;

namespace {

enum Modifier : unsigned { kDefinition = 1, kDocumentation = 2, kStandard = 4, kReadOnly = 8 };

/// The standard types of the protocol, in the order of the legend.
constexpr llvm::StringLiteral kTypes[] = {
    "keyword", "comment",   "string",    "number",   "operator", "type",         "function",
    "class",   "namespace", "parameter", "property", "variable", "typeParameter"};

unsigned TypeOf(SemanticToken::Kind kind) {
  using Kind = SemanticToken::Kind;
  auto index = [](llvm::StringRef name) {
    return static_cast<unsigned>(llvm::find(kTypes, name) - std::begin(kTypes));
  };
  switch (kind) {
    case Kind::kKeyword:
      return index("keyword");
    case Kind::kComment:
      return index("comment");
    case Kind::kString:
      return index("string");
    case Kind::kNumber:
      return index("number");
    case Kind::kSign:
      return index("operator");
    case Kind::kType:
      return index("type");
    case Kind::kOperator:
      return index("function");
    case Kind::kLayer:
      return index("class");
    case Kind::kFile:
      return index("namespace");
    case Kind::kAttribute:
    case Kind::kInput:
      return index("parameter");
    case Kind::kParameter:
    case Kind::kState:
    case Kind::kResult:
      return index("property");
    case Kind::kValue:
      return index("variable");
    case Kind::kSize:
      return index("typeParameter");
  }
  return 0;
}

mlir::lsp::SymbolKind ToSymbolKind(SymbolKind kind) {
  using Theirs = mlir::lsp::SymbolKind;
  switch (kind) {
    case SymbolKind::kLayer:
      return Theirs::Class;
    case SymbolKind::kFile:
      return Theirs::Module;
    case SymbolKind::kInput:
    case SymbolKind::kLayerInput:
      return Theirs::Interface;
    case SymbolKind::kAttr:
    case SymbolKind::kLayerAttr:
      return Theirs::Property;
    case SymbolKind::kParameter:
    case SymbolKind::kState:
      return Theirs::Field;
    case SymbolKind::kInstance:
      return Theirs::Object;
    case SymbolKind::kTest:
      return Theirs::Event;
    default:
      return Theirs::Variable;
  }
}

void WritePosition(llvm::StringRef name, Position position, OStream& out) {
  out.attributeObject(name, [&] {
    out.attribute("line", position.line);
    out.attribute("character", position.character);
  });
}

void WriteRange(llvm::StringRef name, Range range, OStream& out) {
  out.attributeObject(name, [&] {
    WritePosition("start", range.start, out);
    WritePosition("end", range.end, out);
  });
}

void WriteTree(const std::vector<OutlineItem>& items, const Document& document, OStream& out) {
  for (const OutlineItem& item : items) {
    out.object([&] {
      out.attribute("name", item.name.empty() ? "\"\"" : llvm::json::fixUTF8(item.name));
      out.attribute("detail", llvm::json::fixUTF8(item.detail));
      out.attribute("kind", static_cast<int>(ToSymbolKind(item.kind)));
      WriteRange("range", ToRange(document.lines, item.range), out);
      WriteRange("selectionRange", ToRange(document.lines, item.name_range), out);
      out.attributeArray("children", [&] { WriteTree(item.children, document, out); });
    });
  }
}

void WriteList(const std::vector<OutlineItem>& items, llvm::StringRef container,
               const Document& document, OStream& out) {
  for (const OutlineItem& item : items) {
    out.object([&] {
      out.attribute("name", llvm::json::fixUTF8(item.name));
      out.attribute("kind", static_cast<int>(ToSymbolKind(item.kind)));
      out.attribute("containerName", llvm::json::fixUTF8(container));
      out.attributeObject("location", [&] {
        out.attribute("uri", document.uri);
        WriteRange("range", ToRange(document.lines, item.range), out);
      });
    });
    WriteList(item.children, item.name, document, out);
  }
}

}  // namespace

Value SemanticTokensLegend() {
  Array types;
  for (llvm::StringRef type : kTypes) types.push_back(type);
  return Object{
      {"tokenTypes", std::move(types)},
      {"tokenModifiers", Array{"definition", "documentation", "defaultLibrary", "readonly"}}};
}

Value SemanticTokens(const Document& document, Encoding encoding, SourceRange range) {
  Array data;
  LineColumn last;
  for (const SemanticToken& token :
       SemanticTokensOf(document.source, GlobalRegistry(), StandardLayers().get())) {
    if (token.range.begin < range.begin || token.range.begin >= range.end) continue;
    const LineColumn at = document.lines.PositionOf(token.range.begin);
    const llvm::StringRef spelling = document.source->Text(token.range).take_until([](char c) {
      return c == '\n' || c == '\r';
    });
    unsigned modifiers = 0;
    if (token.is_definition) modifiers |= kDefinition;
    if (token.is_documentation) modifiers |= kDocumentation;
    if (token.is_standard) modifiers |= kStandard;
    if (token.kind == SemanticToken::Kind::kParameter) modifiers |= kReadOnly;
    data.push_back(at.line - last.line);
    data.push_back(at.line == last.line ? at.column - last.column : at.column);
    data.push_back(CountColumns(spelling, encoding));
    data.push_back(static_cast<int64_t>(TypeOf(token.kind)));
    data.push_back(static_cast<int64_t>(modifiers));
    last = at;
  }
  return Object{{"data", std::move(data)}};
}

void WriteDocumentSymbols(const Document& document, bool as_tree, OStream& out) {
  const std::vector<OutlineItem> items = OutlineOf(document.source);
  out.array([&] {
    if (as_tree) {
      WriteTree(items, document, out);
    } else {
      WriteList(items, "", document, out);
    }
  });
}

Value FoldingRanges(const Document& document) {
  const std::vector<FoldingRange> folds = FoldingRangesOf(document.source);
  Array list;
  list.reserve(folds.size());
  for (const FoldingRange& fold : folds) {
    const Range range = ToRange(document.lines, fold.range);
    if (range.start.line >= range.end.line) continue;
    Object object{{"startLine", range.start.line}, {"endLine", range.end.line}};
    // The closing bracket stays visible.
    if (fold.kind == FoldingRange::Kind::kBlock && range.end.line > range.start.line + 1)
      object["endLine"] = range.end.line - 1;
    if (fold.kind == FoldingRange::Kind::kComment) object["kind"] = "comment";
    if (fold.kind == FoldingRange::Kind::kImports) object["kind"] = "imports";
    list.push_back(std::move(object));
  }
  return list;
}

Value CodeLenses(const Document& document) {
  Array list;
  for (const OutlineItem& item : OutlineOf(document.source)) {
    if (item.kind != SymbolKind::kTest) continue;
    list.push_back(Object{{"range", ToRange(document.lines, item.name_range)},
                          {"command", Object{{"title", "run"},
                                             {"command", "pdl.runTest"},
                                             {"arguments", Array{document.uri, item.name}}}}});
  }
  return list;
}

}  // namespace pdl::lsp
