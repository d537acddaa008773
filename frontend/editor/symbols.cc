#include "frontend/editor/symbols.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace pdl {

const Occurrence* SymbolTable::Find(uint32_t file, uint32_t offset) const {
  auto next = llvm::upper_bound(occurrences, std::pair(file, offset),
                                [](const auto& key, const Occurrence& occurrence) {
                                  return key < std::pair(occurrence.file, occurrence.range.begin);
                                });
  if (next == occurrences.begin()) return nullptr;
  const Occurrence& found = *std::prev(next);
  return found.file == file && offset <= found.range.end ? &found : nullptr;
}

uint32_t SymbolTable::ScopeAt(uint32_t offset) const {
  uint32_t innermost = 0;
  for (const auto& [index, scope] : llvm::enumerate(scopes)) {
    // A scope follows the scopes around it.
    if (scope.file == 0 && offset >= scope.range.begin && offset <= scope.range.end)
      innermost = static_cast<uint32_t>(index);
  }
  return innermost;
}

uint32_t SymbolTable::IndexOf(const SourceFile& file) const {
  for (const auto& [index, known] : llvm::enumerate(files))
    if (known.get() == &file) return static_cast<uint32_t>(index);
  return Symbol::kNone;
}

std::vector<const Occurrence*> SymbolTable::DefinitionsOf(const Occurrence& use) const {
  const Symbol& symbol = symbols[use.symbol];
  if (use.is_definition && symbol.occurrences.size() > 1) return {&use};
  std::vector<const Occurrence*> definitions;
  for (uint32_t index : symbol.occurrences)
    if (occurrences[index].is_definition) definitions.push_back(&occurrences[index]);
  if (definitions.size() < 2) return definitions;
  // The last one that has an effect at the use.
  const Occurrence* last = nullptr;
  for (const Occurrence* definition : definitions) {
    const bool precedes = definition->file == use.file && definition->effective <= use.range.begin;
    if (precedes && (last == nullptr || last->effective <= definition->effective))
      last = definition;
  }
  if (last == nullptr) return {definitions.front()};
  const SourceRange branches = last->branches;
  const bool is_elsewhere =
      branches.end > 0 && (use.range.begin < branches.begin || use.range.begin >= branches.end);
  if (!is_elsewhere) return {last};
  // Each branch of the `if` may define it.
  llvm::erase_if(definitions, [&](const Occurrence* each) { return each->branches != branches; });
  return definitions;
}

}  // namespace pdl
