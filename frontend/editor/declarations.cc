#include "frontend/editor/declarations.h"

#include "frontend/syntax/ast_walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

using ast::StatementKind;

uint32_t Declarations::AddFile(const std::shared_ptr<const SourceFile>& file) {
  const uint32_t known = table_.IndexOf(*file);
  if (known != Symbol::kNone) return known;
  table_.files.push_back(file);
  table_.file_names.emplace_back();
  return static_cast<uint32_t>(table_.files.size() - 1);
}

uint32_t Declarations::AddSymbol(llvm::StringRef name, SymbolKind kind, uint32_t scope) {
  table_.symbols.push_back({name.str(), kind, scope});
  return static_cast<uint32_t>(table_.symbols.size() - 1);
}

uint32_t Declarations::AddScope(uint32_t file, uint32_t parent, SourceRange range) {
  table_.scopes.push_back({file, parent, range});
  return static_cast<uint32_t>(table_.scopes.size() - 1);
}

Occurrence& Declarations::AddDefinition(uint32_t file, const ast::Identifier& name, uint32_t symbol,
                                        uint32_t effective) {
  return table_.occurrences.emplace_back(
      Occurrence{file, name.range, symbol, /*is_definition=*/true, effective, branches_});
}

uint32_t Declarations::DeclareValue(const ast::Identifier& name, SymbolKind kind, uint32_t scope,
                                    const ast::Statement* statement) {
  NameScope& names = table_.scopes[scope];
  const uint32_t file = names.file;
  // The statements of a test assign to the names of the file, too.
  uint32_t owner = scope;
  if (names.parent != Symbol::kNone && table_.scopes[names.parent].values.contains(name.text))
    owner = names.parent;
  llvm::StringMap<uint32_t>& map =
      kind == SymbolKind::kInstance ? table_.scopes[owner].instances : table_.scopes[owner].values;
  auto [entry, is_new] = map.try_emplace(name.text, 0);
  if (is_new) entry->second = AddSymbol(name.text, kind, owner);
  Symbol& symbol = table_.symbols[entry->second];
  if (symbol.doc.empty()) symbol.doc = statement->doc.str();
  AddDefinition(file, name, entry->second, statement->range.end);
  return entry->second;
}

void Declarations::DescribeVariable(uint32_t symbol, const ast::Type* type,
                                    const SourceFile& file) {
  if (type != nullptr) table_.symbols[symbol].declaration = file.Text(type->range).str();
}

void Declarations::Declare(const ast::Statement* statement, uint32_t scope) {
  const SourceFile& file = *table_.files[table_.scopes[scope].file];
  if (const auto* s = llvm::dyn_cast<ast::AttrStatement>(statement)) {
    DescribeVariable(DeclareValue(s->name, SymbolKind::kAttr, scope, s), s->type, file);
  } else if (const auto* s = llvm::dyn_cast<ast::InputStatement>(statement)) {
    DescribeVariable(DeclareValue(s->name, SymbolKind::kInput, scope, s), s->type, file);
  } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
    const bool is_param = s->kind == StatementKind::kParam;
    const SymbolKind kind = is_param ? SymbolKind::kParameter : SymbolKind::kState;
    DescribeVariable(DeclareValue(s->name, kind, scope, s), s->type, file);
  } else if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
    for (const ast::Identifier& target : s->targets) {
      if (target.text == "_") continue;
      DeclareValue(target, SymbolKind::kValue, scope, s);
      table_.occurrences.back().has_type = s->type != nullptr;
    }
  } else if (const auto* s = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
    const uint32_t symbol = DeclareValue(s->name, SymbolKind::kInstance, scope, s);
    table_.symbols[symbol].declaration = file.Text(s->value->range).str();
  } else if (const auto* s = llvm::dyn_cast<ast::OutputStatement>(statement)) {
    for (const ast::Argument& binding : s->bindings)
      if (binding.is_named() && s->kind == StatementKind::kOutput)
        DeclareValue(binding.name, SymbolKind::kResult, scope, s);
  } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
    for (const ast::Identifier& name : s->names) {
      const uint32_t symbol = DeclareValue(name, SymbolKind::kLoopName, scope, s);
      table_.occurrences.back().effective = s->over->range.end;
      table_.symbols[symbol].doc.clear();
    }
    DeclareAll(s->body.statements, scope);
  } else if (const auto* s = llvm::dyn_cast<ast::IfStatement>(statement)) {
    const SourceRange outer = branches_;
    if (outer.end == 0) branches_ = s->range;
    for (const ast::Branch& branch : s->branches) DeclareAll(branch.block.statements, scope);
    branches_ = outer;
  }
}

void Declarations::DeclareAll(llvm::ArrayRef<const ast::Statement*> statements, uint32_t scope) {
  for (const ast::Statement* statement : statements) Declare(statement, scope);
}

void Declarations::DeclareSizes(const ast::Type* type, uint32_t scope) {
  NameScope& names = table_.scopes[scope];
  auto declare = [&](llvm::StringRef key, const ast::Identifier& name) {
    auto [entry, is_new] = names.sizes.try_emplace(key, 0);
    if (!is_new) return;
    entry->second = AddSymbol(key, SymbolKind::kSize, scope);
    AddDefinition(names.file, name, entry->second, name.range.end);
  };
  for (const ast::TypeTerm& term : type->terms) {
    if (!term.has_dims) continue;
    if (!DTypeFromName(term.name.text)) declare(term.name.text, term.name);
    for (const ast::Dim& dim : term.dims) {
      if (dim.kind == ast::DimKind::kRagged) declare(("~" + dim.symbol.text).str(), dim.symbol);
      if (dim.kind != ast::DimKind::kExpr) continue;
      ForEachSubexpression(dim.expr, [&](const ast::Expr* expr) {
        const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
        if (name != nullptr && !names.values.contains(name->name))
          declare(name->name, {name->name, name->range});
      });
    }
  }
}

void Declarations::DeclareResults(llvm::ArrayRef<const ast::Statement*> statements, uint32_t file,
                                  Layer* layer) {
  for (const ast::Statement* statement : statements) {
    for (const ast::Block* block : BlocksOf(*statement))
      DeclareResults(block->statements, file, layer);
    const auto* result = llvm::dyn_cast<ast::OutputStatement>(statement);
    if (result == nullptr) continue;
    for (const ast::Argument& binding : result->bindings) {
      const auto* value = llvm::dyn_cast<ast::NameExpr>(binding.value);
      if (!binding.is_named() && value == nullptr) continue;
      const ast::Identifier name =
          binding.is_named() ? binding.name : ast::Identifier{value->name, value->range};
      auto [entry, is_new] = layer->results.try_emplace(name.text, 0);
      if (is_new) {
        entry->second = AddSymbol(name.text, SymbolKind::kResult, layer->scope);
        table_.symbols[entry->second].owner = layer->symbol;
      }
      if (binding.is_named()) AddDefinition(file, name, entry->second, result->range.end);
      table_.symbols[entry->second].origin_file = file;
      table_.symbols[entry->second].origin = name.range;
    }
  }
}

uint32_t Declarations::DeclareLayer(const ast::LayerStatement* layer, uint32_t file,
                                    bool is_standard) {
  if (const Layer* known = FindLayer(layer)) return known->symbol;
  Layer made{AddSymbol(layer->name.text, SymbolKind::kLayer, Symbol::kNone),
             AddScope(file, Symbol::kNone, layer->range)};
  Symbol& symbol = table_.symbols[made.symbol];
  symbol.doc = layer->doc.str();
  symbol.is_standard = is_standard;
  statements_[made.symbol] = layer;
  AddDefinition(file, layer->name, made.symbol, layer->range.begin);
  for (const ast::Parameter& parameter : layer->parameters) {
    const bool is_input = parameter.type->is_tensor();
    const SymbolKind kind = is_input ? SymbolKind::kLayerInput : SymbolKind::kLayerAttr;
    const uint32_t each = DeclareValue(parameter.name, kind, made.scope, layer);
    table_.symbols[each].doc = parameter.doc.str();
    table_.symbols[each].is_standard = is_standard;
    table_.symbols[each].owner = made.symbol;
    DescribeVariable(each, parameter.type, *table_.files[file]);
    table_.occurrences.back().effective = layer->body.range.begin;
  }
  if (!is_standard) DeclareAll(layer->body.statements, made.scope);
  for (const ast::Parameter& parameter : layer->parameters)
    if (parameter.type->is_tensor() && !is_standard) DeclareSizes(parameter.type, made.scope);
  DeclareResults(layer->body.statements, file, &made);
  return layers_.try_emplace(layer, std::move(made)).first->second.symbol;
}

}  // namespace pdl
