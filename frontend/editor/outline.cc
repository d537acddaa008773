// The structure of a source: an outline, and ranges that can be folded.
#include "frontend/syntax/ast.h"
#include "frontend/syntax/ast_walk.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "pdl/compiler/analysis.h"

namespace pdl {
namespace {

using ast::StatementKind;

/// Collects the items of a list of statements.
class Outliner {
 public:
  explicit Outliner(const SourceFile& file) : file_(file) {}

  std::vector<OutlineItem> Read(llvm::ArrayRef<const ast::Statement*> statements) {
    std::vector<OutlineItem> items;
    for (const ast::Statement* statement : statements) Add(*statement, &items);
    return items;
  }

 private:
  void Add(const ast::Statement& statement, std::vector<OutlineItem>* items);
  OutlineItem& AddName(const ast::Identifier& name, SymbolKind kind,
                       const ast::Statement& statement, const ast::Type* type,
                       std::vector<OutlineItem>* items) {
    const std::string detail = type == nullptr ? "" : file_.Text(type->range).str();
    return items->emplace_back(
        OutlineItem{name.text.str(), detail, kind, statement.range, name.range});
  }
  void AddLayer(const ast::LayerStatement& layer, std::vector<OutlineItem>* items);
  void AddBroken(const ast::BrokenStatement& statement, std::vector<OutlineItem>* items);
  /// The kind of definition of a name in a broken statement, by the word before it.
  SymbolKind KindOf(const ast::Identifier& name) const;

  const SourceFile& file_;
};

void Outliner::AddLayer(const ast::LayerStatement& layer, std::vector<OutlineItem>* items) {
  OutlineItem& item = AddName(layer.name, SymbolKind::kLayer, layer, nullptr, items);
  for (const ast::Parameter& parameter : layer.parameters) {
    const SymbolKind kind =
        parameter.type->is_tensor() ? SymbolKind::kLayerInput : SymbolKind::kLayerAttr;
    item.children.push_back({parameter.name.text.str(), file_.Text(parameter.type->range).str(),
                             kind, parameter.range, parameter.name.range});
  }
  for (OutlineItem& child : Read(layer.body.statements)) item.children.push_back(std::move(child));
}

SymbolKind Outliner::KindOf(const ast::Identifier& name) const {
  const llvm::StringRef before = file_.text().take_front(name.range.begin);
  const llvm::StringRef line = before.drop_front(before.find_last_of("\r\n{") + 1).trim();
  return llvm::StringSwitch<SymbolKind>(line)
      .Case("attr", SymbolKind::kAttr)
      .Case("input", SymbolKind::kInput)
      .Case("layer", SymbolKind::kLayer)
      .Case("output", SymbolKind::kResult)
      .Case("param", SymbolKind::kParameter)
      .Case("state", SymbolKind::kState)
      .Default(SymbolKind::kValue);
}

// While a statement is typed, its name and those below it stay in the outline.
void Outliner::AddBroken(const ast::BrokenStatement& statement, std::vector<OutlineItem>* items) {
  llvm::ArrayRef<ast::Identifier> names = statement.names;
  if (names.empty()) return;
  if (KindOf(names.front()) == SymbolKind::kLayer) {
    items = &AddName(names.front(), SymbolKind::kLayer, statement, nullptr, items).children;
    names = names.drop_front();
  }
  for (const ast::Identifier& name : names)
    items->push_back({name.text.str(), "", KindOf(name), name.range, name.range, {}});
}

void Outliner::Add(const ast::Statement& statement, std::vector<OutlineItem>* items) {
  if (const auto* s = llvm::dyn_cast<ast::AttrStatement>(&statement)) {
    AddName(s->name, SymbolKind::kAttr, statement, s->type, items);
  } else if (const auto* s = llvm::dyn_cast<ast::InputStatement>(&statement)) {
    AddName(s->name, SymbolKind::kInput, statement, s->type, items);
  } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(&statement)) {
    const bool is_param = s->kind == StatementKind::kParam;
    AddName(s->name, is_param ? SymbolKind::kParameter : SymbolKind::kState, statement, s->type,
            items);
  } else if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(&statement)) {
    for (const ast::Identifier& target : s->targets)
      if (target.text != "_") AddName(target, SymbolKind::kValue, statement, s->type, items);
  } else if (const auto* s = llvm::dyn_cast<ast::LayerInstanceStatement>(&statement)) {
    AddName(s->name, SymbolKind::kInstance, statement, nullptr, items);
  } else if (const auto* s = llvm::dyn_cast<ast::OutputStatement>(&statement)) {
    for (const ast::Argument& binding : s->bindings)
      if (binding.is_named()) AddName(binding.name, SymbolKind::kResult, statement, nullptr, items);
  } else if (const auto* s = llvm::dyn_cast<ast::ImportStatement>(&statement)) {
    const bool is_named = !s->as.text.empty();
    items->push_back({is_named ? s->as.text.str() : s->path.value.str(),
                      is_named ? s->path.value.str() : "", SymbolKind::kFile, statement.range,
                      is_named ? s->as.range : s->path.range});
  } else if (const auto* s = llvm::dyn_cast<ast::LayerStatement>(&statement)) {
    AddLayer(*s, items);
  } else if (const auto* s = llvm::dyn_cast<ast::BrokenStatement>(&statement)) {
    AddBroken(*s, items);
  } else if (const auto* s = llvm::dyn_cast<ast::TestStatement>(&statement)) {
    items->push_back({s->name.value.str(), "", SymbolKind::kTest, statement.range, s->name.range,
                      Read(s->body.statements)});
  } else {
    for (const ast::Block* block : BlocksOf(statement))
      for (OutlineItem& item : Read(block->statements)) items->push_back(std::move(item));
  }
}

void AddBlocks(llvm::ArrayRef<const ast::Statement*> statements,
               std::vector<FoldingRange>* ranges) {
  for (const ast::Statement* statement : statements) {
    const auto blocks = BlocksOf(*statement);
    for (const ast::Block* block : blocks) {
      ranges->push_back({FoldingRange::Kind::kBlock, block->range});
      AddBlocks(block->statements, ranges);
    }
    // A call over several lines.
    if (blocks.empty()) ranges->push_back({FoldingRange::Kind::kBlock, statement->range});
  }
}

}  // namespace

std::vector<OutlineItem> OutlineOf(const std::shared_ptr<const SourceFile>& file) {
  Diagnostics errors;
  const std::unique_ptr<Ast> ast = Parse(file, &errors);
  return Outliner(*file).Read(ast->statements);
}

std::vector<FoldingRange> FoldingRangesOf(const std::shared_ptr<const SourceFile>& file) {
  Diagnostics errors;
  const std::unique_ptr<Ast> ast = Parse(file, &errors);
  std::vector<FoldingRange> ranges;
  AddBlocks(ast->statements, &ranges);
  // Adjacent comments on lines of their own, and adjacent imports, are one range.
  const ast::Comment* last = nullptr;
  for (const ast::Comment& comment : ast->comments) {
    if (!comment.own_line) continue;
    const bool continues =
        last != nullptr && file->LineOf(last->range.begin) + 1 == file->LineOf(comment.range.begin);
    if (continues) {
      ranges.back().range.end = comment.range.end;
    } else {
      ranges.push_back({FoldingRange::Kind::kComment, comment.range});
    }
    last = &comment;
  }
  const ast::Statement* import = nullptr;
  for (const ast::Statement* statement : ast->statements) {
    if (statement->kind != StatementKind::kImport) {
      import = nullptr;
    } else if (import != nullptr) {
      ranges.back().range.end = statement->range.end;
    } else {
      import = statement;
      ranges.push_back({FoldingRange::Kind::kImports, statement->range});
    }
  }
  llvm::erase_if(ranges, [&](const FoldingRange& each) {
    return file->LineOf(each.range.begin) == file->LineOf(each.range.end);
  });
  llvm::stable_sort(ranges, [](const FoldingRange& a, const FoldingRange& b) {
    return a.range.begin < b.range.begin;
  });
  return ranges;
}

}  // namespace pdl
