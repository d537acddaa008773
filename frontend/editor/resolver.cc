// Finds the symbol of each name in the syntax trees.
#include "frontend/editor/declarations.h"
#include "frontend/editor/symbols.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/ast_walk.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {
namespace {

using ast::StatementKind;

/// Resolves the uses in one file.
class FileResolver {
 public:
  FileResolver(SymbolTable& table, Declarations& declared, const ModuleTable& modules,
               const Module& module, uint32_t file, const OpRegistry& registry, const Facts& facts)
      : table_(table),
        declared_(declared),
        modules_(modules),
        module_(module),
        file_(file),
        registry_(registry),
        facts_(facts) {}

  void Resolve(llvm::ArrayRef<const ast::Statement*> statements, uint32_t scope);
  /// Names that set attrs: `test "name" with {width=2}`; may be null.
  void ResolveSettings(const ast::Expr* settings, uint32_t scope);

 private:
  void ResolveStatement(const ast::Statement* statement, uint32_t scope);
  void ResolveLayer(const ast::LayerStatement* layer);
  void ResolveType(const ast::Type* type, uint32_t scope);
  void ResolveOutput(const ast::OutputStatement* statement, uint32_t scope);
  void ResolveExpr(const ast::Expr* expr, uint32_t scope, bool is_size);
  void ResolveName(llvm::StringRef name, SourceRange range, uint32_t scope, bool is_size);
  void ResolveCall(const ast::CallExpr* call, uint32_t scope, bool is_size);
  void ResolveMember(const ast::MemberExpr* member, uint32_t scope, bool is_size);
  void ResolvePath(llvm::ArrayRef<ast::Identifier> path, uint32_t scope);
  /// The symbol of a value, an instance or a size in the scope or the scopes around it.
  uint32_t FindValue(llvm::StringRef name, uint32_t scope, bool is_size) const;
  uint32_t FindInstance(llvm::StringRef name, uint32_t scope) const;
  /// Adds the use of a callee and returns its symbol, or kNone.
  uint32_t ResolveCallee(const ast::Expr* callee, uint32_t scope);
  uint32_t FindCallee(llvm::StringRef name, uint32_t scope);
  uint32_t StandardLayer(llvm::StringRef name);
  /// Adds uses of the operators that the signs of an expression call.
  void ResolveSigns(const ast::Expr* expr);
  /// The symbol of the layer that the call or instance calls, or kNone.
  uint32_t LayerCalledBy(uint32_t symbol) const;
  uint32_t OperatorNamed(llvm::StringRef name);
  uint32_t ArgumentOf(uint32_t op, llvm::StringRef name);
  uint32_t ImportedFile(llvm::StringRef name) const;
  bool IsSizeByFact(SourceRange range) const {
    const NameFact* fact = facts_.FindName(*module_.file, range);
    return fact != nullptr && fact->is_size;
  }

  SymbolTable& table_;
  Declarations& declared_;
  const ModuleTable& modules_;
  const Module& module_;
  uint32_t file_;
  const OpRegistry& registry_;
  const Facts& facts_;
  llvm::StringMap<uint32_t> operators_;
  llvm::DenseMap<uint32_t, llvm::StringMap<uint32_t>> arguments_;  // of operators
  llvm::DenseMap<uint32_t, uint32_t> instance_layers_;             // layers of instances
};

uint32_t FileResolver::FindValue(llvm::StringRef name, uint32_t scope, bool is_size) const {
  for (; scope != Symbol::kNone; scope = table_.scopes[scope].parent) {
    const NameScope& names = table_.scopes[scope];
    const auto value = names.values.find(name);
    const auto size = names.sizes.find(name);
    if (size != names.sizes.end() && (is_size || value == names.values.end())) return size->second;
    if (value != names.values.end()) return value->second;
  }
  return Symbol::kNone;
}

uint32_t FileResolver::FindInstance(llvm::StringRef name, uint32_t scope) const {
  for (; scope != Symbol::kNone; scope = table_.scopes[scope].parent) {
    const auto& instances = table_.scopes[scope].instances;
    if (const auto found = instances.find(name); found != instances.end()) return found->second;
  }
  return Symbol::kNone;
}

void FileResolver::ResolveName(llvm::StringRef name, SourceRange range, uint32_t scope,
                               bool is_size) {
  uint32_t symbol = FindValue(name, scope, is_size || IsSizeByFact(range));
  if (symbol == Symbol::kNone) symbol = FindInstance(name, scope);
  if (symbol != Symbol::kNone) declared_.AddUse(file_, range, symbol);
}

uint32_t FileResolver::OperatorNamed(llvm::StringRef name) {
  const auto known = operators_.find(name);
  if (known != operators_.end()) return known->second;
  const bool is_builtin = llvm::is_contained(
      llvm::ArrayRef<llvm::StringRef>{"dims", "dtype", "grad", "len", "params", "load", "copy"},
      name);
  uint32_t symbol = Symbol::kNone;
  if (is_builtin || registry_.Find(name) != nullptr)
    symbol = declared_.AddSymbol(name, SymbolKind::kOperator, Symbol::kNone);
  return operators_[name] = symbol;
}

uint32_t FileResolver::ArgumentOf(uint32_t op, llvm::StringRef name) {
  auto [entry, is_new] = arguments_[op].try_emplace(name, 0);
  if (is_new) {
    entry->second = declared_.AddSymbol(name, SymbolKind::kArgument, Symbol::kNone);
    table_.symbols[entry->second].owner = op;
  }
  return entry->second;
}

uint32_t FileResolver::FindCallee(llvm::StringRef name, uint32_t scope) {
  if (const uint32_t instance = FindInstance(name, scope); instance != Symbol::kNone)
    return instance;
  const uint32_t value = FindValue(name, scope, /*is_size=*/false);
  // A value is only called if it is a function.
  const bool is_function =
      value != Symbol::kNone &&
      llvm::StringRef(table_.symbols[value].declaration).starts_with("function");
  if (is_function) return value;
  const FileNames& names = table_.file_names[file_];
  if (const auto own = names.layers.find(name); own != names.layers.end()) return own->second;
  if (const auto file = names.files.find(name); file != names.files.end()) return file->second;
  if (const uint32_t layer = StandardLayer(name); layer != Symbol::kNone) return layer;
  const uint32_t op = OperatorNamed(name);
  return op != Symbol::kNone ? op : value;
}

uint32_t FileResolver::StandardLayer(llvm::StringRef name) {
  const Module* module = modules_.standard_layers.lookup(name);
  const ast::LayerStatement* layer = module == nullptr ? nullptr : module->layers.lookup(name);
  if (layer == nullptr) return Symbol::kNone;
  return declared_.DeclareLayer(layer, declared_.AddFile(module->file), /*is_standard=*/true);
}

uint32_t FileResolver::ImportedFile(llvm::StringRef name) const {
  const auto named = module_.named.find(name);
  if (named == module_.named.end() || named->second == nullptr) return Symbol::kNone;
  return table_.IndexOf(*named->second->file);
}

uint32_t FileResolver::ResolveCallee(const ast::Expr* callee, uint32_t scope) {
  if (const auto* name = llvm::dyn_cast<ast::NameExpr>(callee)) {
    const uint32_t symbol = FindCallee(name->name, scope);
    if (symbol != Symbol::kNone) declared_.AddUse(file_, name->range, symbol);
    return symbol;
  }
  const auto* member = llvm::dyn_cast<ast::MemberExpr>(callee);
  const auto* base = member == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(member->base);
  if (base == nullptr) return ResolveExpr(callee, scope, false), Symbol::kNone;
  const FileNames& names = table_.file_names[file_];
  const auto file = names.files.find(base->name);
  if (file == names.files.end()) return ResolveMember(member, scope, false), Symbol::kNone;
  declared_.AddUse(file_, base->range, file->second);
  const auto named = module_.named.find(base->name);
  if (named == module_.named.end() || named->second == nullptr) return Symbol::kNone;
  const ast::LayerStatement* layer = named->second->layers.lookup(member->member.text);
  const Declarations::Layer* found = layer == nullptr ? nullptr : declared_.FindLayer(layer);
  if (found == nullptr) return Symbol::kNone;
  declared_.AddUse(file_, member->member.range, found->symbol);
  return found->symbol;
}

uint32_t FileResolver::LayerCalledBy(uint32_t symbol) const {
  if (symbol == Symbol::kNone) return Symbol::kNone;
  if (table_.symbols[symbol].kind == SymbolKind::kLayer) return symbol;
  const auto found = instance_layers_.find(symbol);
  return found == instance_layers_.end() ? Symbol::kNone : found->second;
}

void FileResolver::ResolveCall(const ast::CallExpr* call, uint32_t scope, bool is_size) {
  const uint32_t symbol = ResolveCallee(call->callee, scope);
  const uint32_t called = LayerCalledBy(symbol);
  const ast::LayerStatement* layer = called == Symbol::kNone ? nullptr : declared_.LayerOf(called);
  for (const ast::Argument& argument : call->arguments) {
    ResolveExpr(argument.value, scope, is_size);
    if (!argument.is_named() || symbol == Symbol::kNone) continue;
    uint32_t parameter = Symbol::kNone;
    if (layer != nullptr) {
      const NameScope& names = table_.scopes[declared_.FindLayer(layer)->scope];
      const auto found = names.values.find(argument.name.text);
      if (found != names.values.end()) parameter = found->second;
    } else if (table_.symbols[symbol].kind == SymbolKind::kFile) {
      const uint32_t file = ImportedFile(table_.symbols[symbol].name);
      if (file != Symbol::kNone)
        parameter = FindValue(argument.name.text, table_.file_names[file].scope, false);
    } else if (table_.symbols[symbol].kind == SymbolKind::kOperator) {
      parameter = ArgumentOf(symbol, argument.name.text);
    }
    if (parameter != Symbol::kNone) declared_.AddUse(file_, argument.name.range, parameter);
  }
}

void FileResolver::ResolveSettings(const ast::Expr* settings, uint32_t scope) {
  const auto* record = llvm::dyn_cast_or_null<ast::RecordExpr>(settings);
  if (record == nullptr) return;
  for (const ast::Argument& setting : record->fields) {
    if (setting.is_named()) ResolveName(setting.name.text, setting.name.range, scope, false);
    ResolveExpr(setting.value, scope, false);
  }
}

/// The path that an expression consists of, such as "encoder.w"; empty if it is none.
static std::string PathOf(const ast::Expr* expr) {
  if (const auto* name = llvm::dyn_cast<ast::NameExpr>(expr)) return name->name.str();
  const auto* member = llvm::dyn_cast<ast::MemberExpr>(expr);
  std::string base = member == nullptr ? "" : PathOf(member->base);
  return base.empty() ? base : base + "." + member->member.text.str();
}

void FileResolver::ResolveMember(const ast::MemberExpr* member, uint32_t scope, bool is_size) {
  // An input, parameter or state may have a name with dots.
  if (const std::string path = PathOf(member); !path.empty()) {
    if (const uint32_t symbol = FindValue(path, scope, is_size); symbol != Symbol::kNone)
      return declared_.AddUse(file_, member->range, symbol);
  }
  ResolveExpr(member->base, scope, is_size);
  const ast::Expr* base = ast::WithoutParentheses(member->base);
  if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(base);
      chain != nullptr && chain->operators[0].op == ast::Operator::kPipe)
    base = chain->operands.back();
  const auto* call = llvm::dyn_cast<ast::CallExpr>(base);
  if (call == nullptr) return;
  const SourceRange callee = call->callee->range;
  // The last part of the callee was resolved already.
  for (const Occurrence& use : llvm::reverse(table_.occurrences)) {
    if (use.file != file_ || use.range.end != callee.end) continue;
    const uint32_t called = LayerCalledBy(use.symbol);
    const ast::LayerStatement* layer =
        called == Symbol::kNone ? nullptr : declared_.LayerOf(called);
    if (layer == nullptr) return;
    const auto& results = declared_.FindLayer(layer)->results;
    const auto found = results.find(member->member.text);
    if (found != results.end()) declared_.AddUse(file_, member->member.range, found->second);
    return;
  }
}

void FileResolver::ResolveExpr(const ast::Expr* expr, uint32_t scope, bool is_size) {
  if (expr == nullptr) return;
  if (const auto* name = llvm::dyn_cast<ast::NameExpr>(expr))
    return ResolveName(name->name, name->range, scope, is_size);
  if (const auto* ragged = llvm::dyn_cast<ast::RaggedExpr>(expr))
    return ResolveName(("~" + ragged->symbol.text).str(), ragged->symbol.range, scope, true);
  if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr))
    return ResolveCall(call, scope, is_size);
  if (const auto* member = llvm::dyn_cast<ast::MemberExpr>(expr))
    return ResolveMember(member, scope, is_size);
  ResolveSigns(expr);
  llvm::SmallVector<const ast::Expr*, 8> parts;
  AddSubexpressions(expr, &parts);
  for (const ast::Expr* part : parts) ResolveExpr(part, scope, is_size);
}

void FileResolver::ResolveSigns(const ast::Expr* expr) {
  auto add = [&](SourceRange sign) {
    const CallFact* fact = facts_.FindCall(*module_.file, sign);
    if (fact != nullptr && fact->op != nullptr)
      declared_.AddUse(file_, sign, OperatorNamed(fact->op->name()));
  };
  if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(expr))
    for (const ast::OperatorUse& use : chain->operators) add(use.range);
  if (const auto* prefix = llvm::dyn_cast<ast::PrefixExpr>(expr))
    add({prefix->range.begin, prefix->operand->range.begin});
}

void FileResolver::ResolveType(const ast::Type* type, uint32_t scope) {
  if (type == nullptr) return;
  auto resolve = [&](llvm::StringRef name, SourceRange range) {
    const uint32_t symbol = FindValue(name, scope, /*is_size=*/true);
    if (symbol != Symbol::kNone) declared_.AddUse(file_, range, symbol);
  };
  for (const ast::TypeTerm& term : type->terms) {
    if (term.has_dims && !DTypeFromName(term.name.text)) resolve(term.name.text, term.name.range);
    for (const ast::Dim& dim : term.dims) {
      if (dim.kind == ast::DimKind::kRagged)
        resolve(("~" + dim.symbol.text).str(), dim.symbol.range);
      if (dim.kind != ast::DimKind::kExpr) continue;
      ForEachSubexpression(dim.expr, [&](const ast::Expr* expr) {
        if (const auto* name = llvm::dyn_cast<ast::NameExpr>(expr))
          resolve(name->name, name->range);
      });
    }
    if (term.value_range.kind != ast::RangeKind::kNone)
      ResolveExpr(term.value_range.value, scope, /*is_size=*/true);
  }
}

void FileResolver::ResolvePath(llvm::ArrayRef<ast::Identifier> path, uint32_t scope) {
  if (!path.empty()) ResolveName(path.front().text, path.front().range, scope, false);
}

void FileResolver::ResolveLayer(const ast::LayerStatement* layer) {
  const Declarations::Layer* known = declared_.FindLayer(layer);
  if (known == nullptr) return;
  const uint32_t scope = known->scope;
  for (const ast::Parameter& parameter : layer->parameters) {
    ResolveType(parameter.type, scope);
    ResolveExpr(parameter.default_value, scope, false);
  }
  for (const ast::Expr* condition : layer->where) ResolveExpr(condition, scope, true);
  Resolve(layer->body.statements, scope);
}

void FileResolver::ResolveOutput(const ast::OutputStatement* statement, uint32_t scope) {
  for (const ast::Argument& binding : statement->bindings) {
    const size_t before = table_.occurrences.size();
    ResolveExpr(binding.value, scope, false);
    const bool is_name = llvm::isa<ast::NameExpr>(binding.value);
    if (binding.is_named() || !is_name || table_.occurrences.size() == before) continue;
    table_.occurrences.back().names_result = true;
    table_.occurrences.back().is_return = statement->kind == StatementKind::kReturn;
  }
}

void FileResolver::ResolveStatement(const ast::Statement* statement, uint32_t scope) {
  if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement))
    return ResolveLayer(layer);
  if (const auto* output = llvm::dyn_cast<ast::OutputStatement>(statement))
    return ResolveOutput(output, scope);
  if (const auto* s = llvm::dyn_cast<ast::UpdateStatement>(statement)) {
    uint32_t symbol = FindValue(s->name.text, scope, false);
    if (symbol == Symbol::kNone) symbol = FindInstance(s->name.text, scope);
    if (symbol != Symbol::kNone) declared_.AddUse(file_, s->name.range, symbol);
  } else if (const auto* s = llvm::dyn_cast<ast::LoadStatement>(statement)) {
    ResolvePath(s->into, scope);
    ResolveExpr(s->with, scope, false);
  } else if (const auto* s = llvm::dyn_cast<ast::FeedStatement>(statement)) {
    ResolvePath(s->path, scope);
  }
  // Types first: their dims are sizes.
  if (const auto* s = llvm::dyn_cast<ast::AttrStatement>(statement)) {
    ResolveType(s->type, scope);
    return ResolveExpr(s->default_value, scope, false);
  }
  if (const auto* s = llvm::dyn_cast<ast::InputStatement>(statement)) {
    ResolveType(s->type, scope);
    for (const ast::Expr* condition : s->where) ResolveExpr(condition, scope, true);
    return;
  }
  if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
    ResolveType(s->type, scope);
    ResolveExpr(s->initial, scope, false);
    return ResolveExpr(s->with, scope, false);
  }
  if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
    ResolveType(s->type, scope);
    return ResolveExpr(s->value, scope, false);
  }
  ForEachExpression(*statement, [&](const ast::Expr* expr) { ResolveExpr(expr, scope, false); });
  if (const auto* s = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
    const auto* call = llvm::dyn_cast<ast::CallExpr>(ast::WithoutParentheses(s->value));
    const uint32_t instance = FindInstance(s->name.text, scope);
    const auto* callee = call == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(call->callee);
    if (callee == nullptr || instance == Symbol::kNone) return;
    const uint32_t layer = LayerCalledBy(FindCallee(callee->name, scope));
    if (layer != Symbol::kNone && layer != instance) instance_layers_[instance] = layer;
  }
  if (statement->kind == StatementKind::kTest) return;  // has a scope of its own
  for (const ast::Block* block : BlocksOf(*statement)) Resolve(block->statements, scope);
}

void FileResolver::Resolve(llvm::ArrayRef<const ast::Statement*> statements, uint32_t scope) {
  for (const ast::Statement* statement : statements) ResolveStatement(statement, scope);
}

// -------------------------------------------------------------------------------------------------

/// Resolves all files of an elaboration.
class Resolver {
 public:
  Resolver(const ModuleTable& modules, const OpRegistry& registry, const Facts& facts)
      : modules_(modules), registry_(registry), facts_(facts), declared_(table_) {}

  SymbolTable Run();

 private:
  void DeclareFile(const Module& module);
  /// Collects the callable names of the file.
  void CollectCallees(const Module& module);
  void ResolveFile(const Module& module);
  void Finish();

  const ModuleTable& modules_;
  const OpRegistry& registry_;
  const Facts& facts_;
  SymbolTable table_;
  Declarations declared_;
};

void Resolver::DeclareFile(const Module& module) {
  const uint32_t file = declared_.AddFile(module.file);
  const auto size = static_cast<uint32_t>(module.file->text().size());
  const uint32_t scope = declared_.AddScope(file, Symbol::kNone, {0, size});
  table_.file_names[file].scope = scope;
  declared_.DeclareAll(module.ast->statements, scope);
  for (const ast::Statement* statement : module.ast->statements) {
    if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement)) {
      declared_.DeclareLayer(layer, file, /*is_standard=*/false);
    } else if (const auto* input = llvm::dyn_cast<ast::InputStatement>(statement)) {
      declared_.DeclareSizes(input->type, scope);
    } else if (const auto* import = llvm::dyn_cast<ast::ImportStatement>(statement)) {
      if (import->as.text.empty()) continue;
      const uint32_t symbol = declared_.AddSymbol(import->as.text, SymbolKind::kFile, scope);
      table_.symbols[symbol].declaration = "\"" + import->path.value.str() + "\"";
      declared_.AddDefinition(file, import->as, symbol, import->range.end);
      table_.file_names[file].files.try_emplace(import->as.text, symbol);
    }
  }
}

void Resolver::CollectCallees(const Module& module) {
  auto add = [&](llvm::StringRef name, const Module& of, const ast::LayerStatement* layer) {
    const uint32_t file = declared_.AddFile(of.file);
    const uint32_t symbol = declared_.DeclareLayer(layer, file, of.is_standard);
    // Adding a file may move the names.
    table_.file_names[table_.IndexOf(*module.file)].layers[name] = symbol;
  };
  for (const auto& entry : module.layers) add(entry.first(), module, entry.second);
  for (const auto& entry : module.imported) {
    const ast::LayerStatement* layer = entry.second->layers.lookup(entry.first());
    if (layer != nullptr && !module.layers.contains(entry.first()))
      add(entry.first(), *entry.second, layer);
  }
}

void Resolver::ResolveFile(const Module& module) {
  const uint32_t file = table_.IndexOf(*module.file);
  const uint32_t scope = table_.file_names[file].scope;
  FileResolver resolver(table_, declared_, modules_, module, file, registry_, facts_);
  resolver.Resolve(module.ast->statements, scope);
  for (const ast::Statement* statement : module.ast->statements) {
    const auto* test = llvm::dyn_cast<ast::TestStatement>(statement);
    if (test == nullptr) continue;
    resolver.ResolveSettings(test->with, scope);
    const uint32_t inner = declared_.AddScope(file, scope, test->body.range);
    declared_.DeclareAll(test->body.statements, inner);
    resolver.Resolve(test->body.statements, inner);
  }
}

void Resolver::Finish() {
  llvm::stable_sort(table_.occurrences, [](const Occurrence& a, const Occurrence& b) {
    return std::tuple(a.file, a.range.begin, !a.is_definition) <
           std::tuple(b.file, b.range.begin, !b.is_definition);
  });
  // A definition is not a use, too.
  auto same = [](const Occurrence& a, const Occurrence& b) {
    return a.file == b.file && a.range == b.range;
  };
  table_.occurrences.erase(std::unique(table_.occurrences.begin(), table_.occurrences.end(), same),
                           table_.occurrences.end());
  for (const bool definitions : {true, false}) {
    for (const auto& [index, occurrence] : llvm::enumerate(table_.occurrences))
      if (occurrence.is_definition == definitions)
        table_.symbols[occurrence.symbol].occurrences.push_back(static_cast<uint32_t>(index));
  }
}

SymbolTable Resolver::Run() {
  for (const Module& module : modules_.modules)
    if (!module.is_standard) DeclareFile(module);
  for (const Module& module : modules_.modules)
    if (!module.is_standard) CollectCallees(module);
  for (const Module& module : modules_.modules)
    if (!module.is_standard) ResolveFile(module);
  Finish();
  return std::move(table_);
}

}  // namespace

SymbolTable ResolveSymbols(const ModuleTable& modules, const OpRegistry& registry,
                           const Facts& facts) {
  return Resolver(modules, registry, facts).Run();
}

}  // namespace pdl
