#ifndef PDL_FRONTEND_EDITOR_DECLARATIONS_H_
#define PDL_FRONTEND_EDITOR_DECLARATIONS_H_

#include <cstdint>
#include <memory>

#include "frontend/editor/symbols.h"
#include "frontend/syntax/ast.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

/// Declares the symbols of all scopes, before their uses are resolved.
class Declarations {
 public:
  explicit Declarations(SymbolTable& table) : table_(table) {}

  uint32_t AddFile(const std::shared_ptr<const SourceFile>& file);
  uint32_t AddSymbol(llvm::StringRef name, SymbolKind kind, uint32_t scope);
  uint32_t AddScope(uint32_t file, uint32_t parent, SourceRange range);
  void AddUse(uint32_t file, SourceRange range, uint32_t symbol) {
    table_.occurrences.push_back({file, range, symbol});
  }
  Occurrence& AddDefinition(uint32_t file, const ast::Identifier& name, uint32_t symbol,
                            uint32_t effective);
  /// Declares the names that the statements of a scope define, but no sizes.
  void DeclareAll(llvm::ArrayRef<const ast::Statement*> statements, uint32_t scope);
  /// Declares the sizes that a type introduces.
  void DeclareSizes(const ast::Type* type, uint32_t scope);
  /// The symbol of a layer, with its parameters and results.
  uint32_t DeclareLayer(const ast::LayerStatement* layer, uint32_t file, bool is_standard);

  /// A declared layer and its names.
  struct Layer {
    uint32_t symbol;
    uint32_t scope;
    llvm::StringMap<uint32_t> results = {};
  };
  const Layer* FindLayer(const ast::LayerStatement* layer) const {
    const auto found = layers_.find(layer);
    return found == layers_.end() ? nullptr : &found->second;
  }
  /// The layer statement of a symbol, or null.
  const ast::LayerStatement* LayerOf(uint32_t symbol) const { return statements_.lookup(symbol); }

 private:
  void Declare(const ast::Statement* statement, uint32_t scope);
  uint32_t DeclareValue(const ast::Identifier& name, SymbolKind kind, uint32_t scope,
                        const ast::Statement* statement);
  void DescribeVariable(uint32_t symbol, const ast::Type* type, const SourceFile& file);
  void DeclareResults(llvm::ArrayRef<const ast::Statement*> statements, uint32_t file,
                      Layer* layer);

  SymbolTable& table_;
  llvm::DenseMap<const ast::LayerStatement*, Layer> layers_;
  llvm::DenseMap<uint32_t, const ast::LayerStatement*> statements_;
  SourceRange branches_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_EDITOR_DECLARATIONS_H_
