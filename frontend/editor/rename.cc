// Renaming: whether a name may get another one, and the edits.
#include "frontend/editor/analysis_data.h"
#include "frontend/syntax/keywords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/keywords.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

template <typename... Args>
llvm::Error Fail(const char* format, Args&&... args) {
  return MakeUserError(Code::kRedefined, format, std::forward<Args>(args)...);
}

bool IsName(llvm::StringRef word) {
  auto is_start = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  auto is_part = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !word.empty() && is_start(word.front()) && llvm::all_of(word, is_part);
}

/// Whether calls use the name.
bool IsCallable(SymbolKind kind) {
  return kind == SymbolKind::kLayer || kind == SymbolKind::kInstance || kind == SymbolKind::kFile;
}

/// Describes what has the name in a scope; empty if nothing has.
std::string TakenIn(const SymbolTable& table, uint32_t scope, llvm::StringRef name) {
  const NameScope& names = table.scopes[scope];
  for (const auto* map : {&names.values, &names.sizes, &names.instances})
    if (const auto found = map->find(name); found != map->end())
      return SymbolKindName(table.symbols[found->second].kind).str();
  return "";
}

/// The same for the scope of a symbol and the scopes in it, and for callable names.
std::string TakenFor(const SourceAnalysis::Data& data, const Symbol& symbol, llvm::StringRef name) {
  const SymbolTable& table = data.symbols;
  if (symbol.kind != SymbolKind::kLayer && symbol.scope != Symbol::kNone) {
    for (uint32_t scope = 0; scope < table.scopes.size(); ++scope) {
      const uint32_t parent = table.scopes[scope].parent;
      if (scope != symbol.scope && parent != symbol.scope &&
          scope != table.scopes[symbol.scope].parent)
        continue;
      if (std::string taken = TakenIn(table, scope, name); !taken.empty()) return taken;
    }
  }
  if (!IsCallable(symbol.kind)) return "";
  for (const FileNames& names : table.file_names) {
    if (names.layers.contains(name)) return "layer";
    if (names.files.contains(name)) return "imported file";
  }
  if (data.registry->Find(name) != nullptr) return "operator";
  return data.signatures->FindStandard(name) != nullptr ? "standard layer" : "";
}

/// The position of the name in a statement with a syntax error, whose names are not known.
std::optional<uint32_t> InBrokenStatement(const SourceAnalysis::Data& data, llvm::StringRef name) {
  const llvm::StringRef source = data.file->text();
  const auto at_word = [&](size_t offset) {
    return static_cast<size_t>(WordAt(source, static_cast<uint32_t>(offset)).begin);
  };
  for (const SourceRange& range : data.broken)
    for (size_t at = source.find(name, range.begin); at < range.end; at = source.find(name, at + 1))
      // The name may have dots.
      if (at_word(at) == at &&
          WordAt(source, static_cast<uint32_t>(at + name.size())).end == at + name.size())
        return static_cast<uint32_t>(at);
  return std::nullopt;
}

}  // namespace

llvm::Expected<SourceRange> SourceAnalysis::PrepareRename(const SourceFile& in,
                                                          uint32_t offset) const {
  const uint32_t index_of_file = data_->symbols.IndexOf(in);
  const Occurrence* use =
      index_of_file == Symbol::kNone ? nullptr : data_->symbols.Find(index_of_file, offset);
  if (use == nullptr) return Fail("there is no name here");
  const Symbol& symbol = data_->symbols.symbols[use->symbol];
  if (symbol.kind == SymbolKind::kOperator || symbol.kind == SymbolKind::kArgument)
    return Fail("'{0}' is a part of the language", symbol.name);
  if (symbol.is_standard) return Fail("'{0}' belongs to a standard layer", symbol.name);
  const bool is_defined = llvm::any_of(symbol.occurrences, [&](uint32_t index) {
    return data_->symbols.occurrences[index].is_definition;
  });
  if (!is_defined)
    return Fail("'{0}' has its name from a value that is returned; rename that", symbol.name);
  for (uint32_t index : symbol.occurrences) {
    const SourceFile& file = *data_->symbols.files[data_->symbols.occurrences[index].file];
    if (!llvm::StringRef(file.name()).ends_with(".pdlc")) continue;
    return Fail("'{0}' is defined in a compiled network", symbol.name);
  }
  return use->range;
}

llvm::Expected<std::vector<SourceEdit>> SourceAnalysis::Rename(const SourceFile& in,
                                                               uint32_t offset,
                                                               llvm::StringRef name) const {
  llvm::Expected<SourceRange> range = PrepareRename(in, offset);
  if (!range) return range.takeError();
  const Occurrence* use = data_->symbols.Find(data_->symbols.IndexOf(in), offset);
  const Symbol& symbol = data_->symbols.symbols[use->symbol];
  const bool is_ragged = llvm::StringRef(symbol.name).starts_with("~");
  if (is_ragged) name.consume_front("~");
  if (!IsName(name))
    return Fail("'{0}' is not a name: letters, digits and '_', but no digit first", name);
  if (IsKeyword(name)) return Fail("'{0}' is a keyword", name);
  if (DTypeFromName(name)) return Fail("'{0}' is a dtype", name);
  if (name == "training" || name == "step" || name == "_")
    return Fail("'{0}' has a meaning in the language", name);
  const std::string full = (is_ragged ? "~" : "") + name.str();
  if (full == symbol.name) return std::vector<SourceEdit>();
  if (const std::string taken = TakenFor(*data_, symbol, full); !taken.empty())
    return Fail("the name '{0}' is taken ({1})", name, taken);
  if (const auto broken = InBrokenStatement(*data_, llvm::StringRef(symbol.name).ltrim('~')))
    return Fail("'{0}' is in a statement with a syntax error, in line {1}", symbol.name,
                data_->file->PositionOf(*broken).line);
  std::vector<SourceEdit> edits;
  for (uint32_t index : symbol.occurrences) {
    const Occurrence& occurrence = data_->symbols.occurrences[index];
    std::string replacement = name.str();
    // The name of an output or a result stays.
    if (occurrence.names_result)
      replacement = symbol.name + (occurrence.is_return ? "=" : " = ") + replacement;
    edits.push_back({data_->RangeOf(occurrence), std::move(replacement)});
  }
  return edits;
}

}  // namespace pdl
