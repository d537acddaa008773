// The words of a source with their meaning, for highlighting. Looks at the syntax only, so that it
// works while a source has errors.
#include <algorithm>

#include "frontend/elaborate/layer_library.h"
#include "frontend/syntax/ast_walk.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"
#include "grammar/PdlParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/analysis.h"

namespace pdl {
namespace {

using Kind = SemanticToken::Kind;

/// The kinds of the names in one scope.
struct Names {
  SourceRange range;
  llvm::StringMap<Kind> kinds = {};
};

/// Collects the names that the statements of a file and of its layers define.
class Collector {
 public:
  explicit Collector(SourceRange file) { scopes_.push_back({file}); }

  void Collect(llvm::ArrayRef<const ast::Statement*> statements, size_t scope);
  void AddDefinition(SourceRange range) { definitions_.push_back(range.begin); }
  /// The kind of a name at an offset.
  std::optional<Kind> Find(llvm::StringRef name, uint32_t offset) const;
  bool IsLayer(llvm::StringRef name) const { return layers_.contains(name); }
  bool IsFile(llvm::StringRef name) const { return files_.contains(name); }
  void Sort() { llvm::sort(definitions_); }
  bool Defines(uint32_t offset) const {
    return std::binary_search(definitions_.begin(), definitions_.end(), offset);
  }

 private:
  void CollectOne(const ast::Statement* statement, size_t scope);
  void CollectLayer(const ast::LayerStatement* layer);
  void Add(const ast::Identifier& name, Kind kind, size_t scope) {
    scopes_[scope].kinds.try_emplace(name.text, kind);
    AddDefinition(name.range);
  }
  void AddSizes(const ast::Type* type, size_t scope);

  std::vector<Names> scopes_;  // the file first
  std::vector<uint32_t> definitions_;
  llvm::StringSet<> layers_, files_;
};

void Collector::AddSizes(const ast::Type* type, size_t scope) {
  for (const ast::TypeTerm& term : type->terms) {
    for (const ast::Dim& dim : term.dims) {
      if (dim.kind == ast::DimKind::kRagged)
        scopes_[scope].kinds.try_emplace(dim.symbol.text, Kind::kSize);
      if (dim.kind != ast::DimKind::kExpr) continue;
      ForEachSubexpression(dim.expr, [&](const ast::Expr* expr) {
        if (const auto* name = llvm::dyn_cast<ast::NameExpr>(expr))
          scopes_[scope].kinds.try_emplace(name->name, Kind::kSize);
      });
    }
  }
}

void Collector::CollectLayer(const ast::LayerStatement* layer) {
  layers_.insert(layer->name.text);
  AddDefinition(layer->name.range);
  scopes_.push_back({layer->range});
  const size_t scope = scopes_.size() - 1;
  for (const ast::Parameter& parameter : layer->parameters)
    Add(parameter.name, parameter.type->is_tensor() ? Kind::kInput : Kind::kAttribute, scope);
  for (const ast::Parameter& parameter : layer->parameters)
    if (parameter.type->is_tensor()) AddSizes(parameter.type, scope);
  Collect(layer->body.statements, scope);
}

void Collector::CollectOne(const ast::Statement* statement, size_t scope) {
  if (const auto* s = llvm::dyn_cast<ast::LayerStatement>(statement)) return CollectLayer(s);
  if (const auto* s = llvm::dyn_cast<ast::AttrStatement>(statement)) {
    Add(s->name, Kind::kAttribute, scope);
  } else if (const auto* s = llvm::dyn_cast<ast::InputStatement>(statement)) {
    Add(s->name, Kind::kInput, scope);
    AddSizes(s->type, scope);
  } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
    const bool is_param = s->kind == ast::StatementKind::kParam;
    Add(s->name, is_param ? Kind::kParameter : Kind::kState, scope);
  } else if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
    for (const ast::Identifier& target : s->targets) Add(target, Kind::kValue, scope);
  } else if (const auto* s = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
    Add(s->name, Kind::kLayer, scope);
  } else if (const auto* s = llvm::dyn_cast<ast::OutputStatement>(statement)) {
    for (const ast::Argument& binding : s->bindings)
      if (binding.is_named()) Add(binding.name, Kind::kResult, scope);
  } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
    for (const ast::Identifier& name : s->names) Add(name, Kind::kValue, scope);
  } else if (const auto* s = llvm::dyn_cast<ast::ImportStatement>(statement)) {
    if (s->as.text.empty()) return;
    files_.insert(s->as.text);
    AddDefinition(s->as.range);
  }
  for (const ast::Block* block : BlocksOf(*statement)) Collect(block->statements, scope);
}

void Collector::Collect(llvm::ArrayRef<const ast::Statement*> statements, size_t scope) {
  for (const ast::Statement* statement : statements) CollectOne(statement, scope);
}

std::optional<Kind> Collector::Find(llvm::StringRef name, uint32_t offset) const {
  for (const Names& scope : llvm::drop_begin(scopes_)) {
    if (offset < scope.range.begin || offset >= scope.range.end) continue;
    const auto found = scope.kinds.find(name);
    return found == scope.kinds.end() ? std::nullopt : std::optional(found->second);
  }
  const auto found = scopes_.front().kinds.find(name);
  return found == scopes_.front().kinds.end() ? std::nullopt : std::optional(found->second);
}

/// Classifies the tokens.
class Classifier {
 public:
  Classifier(const std::shared_ptr<const SourceFile>& file, const OpRegistry& registry,
             const LayerLibrary* library)
      : file_(file), registry_(registry), names_({0, static_cast<uint32_t>(file->text().size())}) {
    if (library == nullptr) return;
    for (const std::unique_ptr<Ast>& ast : library->texts().asts)
      for (const ast::Statement* statement : ast->statements)
        if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement))
          standard_layers_.insert(layer->name.text);
  }

  std::vector<SemanticToken> Run();

 private:
  void ReadTokens(std::vector<ast::Comment>* comments);
  void AddWord(size_t index);
  void ClassifyCallee(llvm::StringRef name, SemanticToken* token) const;
  llvm::StringRef At(size_t index) const {
    return index < tokens_.size() ? file_->Text(tokens_[index].range()) : "";
  }

  std::shared_ptr<const SourceFile> file_;
  const OpRegistry& registry_;
  Collector names_;
  llvm::StringSet<> standard_layers_;
  std::vector<Token> tokens_;
  std::vector<char> open_;  // brackets
  std::vector<SemanticToken> found_;
};

void Classifier::ReadTokens(std::vector<ast::Comment>* comments) {
  Diagnostics errors;
  Lexer lexer(file_, comments, &errors);
  Unit unit;
  while (lexer.NextUnit(&unit)) {
    for (const Token& token : unit.tokens)
      if (token.range().begin < token.range().end && token.type() != PdlParser::NL)
        tokens_.push_back(token);
  }
}

void Classifier::ClassifyCallee(llvm::StringRef name, SemanticToken* token) const {
  token->kind = Kind::kOperator;
  if (names_.IsFile(name)) {
    token->kind = Kind::kFile;
  } else if (names_.IsLayer(name) || names_.Find(name, token->range.begin) == Kind::kLayer) {
    token->kind = Kind::kLayer;
  } else if (standard_layers_.contains(name)) {
    token->kind = Kind::kLayer;
    token->is_standard = true;
  } else if (registry_.Find(name) != nullptr) {
    token->is_standard = true;
  } else {
    token->kind = Kind::kLayer;
  }
}

void Classifier::AddWord(size_t index) {
  const Token& token = tokens_[index];
  const llvm::StringRef spelling = At(index);
  SemanticToken word{Kind::kValue, token.range()};
  word.is_definition = names_.Defines(token.range().begin);
  const bool in_call = !open_.empty() && open_.back() != '[';
  if (token.type() != PdlParser::NAME) {
    word.kind = Kind::kKeyword;
  } else if (DTypeFromName(spelling)) {
    word.kind = Kind::kType;
  } else if (names_.IsFile(spelling) && (word.is_definition || At(index + 1) == ".")) {
    word.kind = Kind::kFile;
  } else if (word.is_definition && names_.IsLayer(spelling)) {
    word.kind = Kind::kLayer;
  } else if (At(index + 1) == "(" && !word.is_definition) {
    ClassifyCallee(spelling, &word);
  } else if (in_call && At(index + 1) == "=" && !word.is_definition) {
    word.kind = Kind::kAttribute;
  } else if (index > 0 && At(index - 1) == ".") {
    word.kind = Kind::kResult;
  } else if (const std::optional<Kind> kind = names_.Find(spelling, token.range().begin)) {
    word.kind = *kind;
  }
  found_.push_back(word);
}

std::vector<SemanticToken> Classifier::Run() {
  Diagnostics errors;
  const std::unique_ptr<Ast> ast = Parse(file_, &errors);
  names_.Collect(ast->statements, 0);
  names_.Sort();
  std::vector<ast::Comment> comments;
  ReadTokens(&comments);
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const llvm::StringRef spelling = At(i);
    const char first = spelling.front();
    if (first == '(' || first == '[' || first == '{') open_.push_back(first);
    if ((first == ')' || first == ']' || first == '}') && !open_.empty()) open_.pop_back();
    if (first == '"') {
      found_.push_back({Kind::kString, tokens_[i].range()});
    } else if (tokens_[i].type() == PdlParser::NUMBER) {
      found_.push_back({Kind::kNumber, tokens_[i].range()});
    } else if (llvm::isAlpha(first) || first == '_') {
      AddWord(i);
    }
  }
  for (const ast::Comment& comment : comments) {
    SemanticToken token{Kind::kComment, comment.range};
    token.is_documentation = comment.is_doc;
    found_.push_back(token);
  }
  llvm::stable_sort(found_, [](const SemanticToken& a, const SemanticToken& b) {
    return a.range.begin < b.range.begin;
  });
  return std::move(found_);
}

}  // namespace

std::vector<SemanticToken> SemanticTokensOf(const std::shared_ptr<const SourceFile>& file,
                                            const OpRegistry& registry,
                                            const LayerLibrary* library) {
  // The lexer requires valid UTF-8.
  if (FindInvalidUtf8(file->text()) != llvm::StringRef::npos) return {};
  return Classifier(file, registry, library).Run();
}

}  // namespace pdl
