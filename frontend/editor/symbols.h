#ifndef PDL_FRONTEND_EDITOR_SYMBOLS_H_
#define PDL_FRONTEND_EDITOR_SYMBOLS_H_

#include <memory>
#include <string>
#include <vector>

#include "frontend/editor/facts.h"
#include "frontend/elaborate/elaboration_state.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/analysis.h"

namespace pdl {

/// A name with one meaning in one scope: the file, a layer, or a test.
struct Symbol {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::string name;
  SymbolKind kind;
  uint32_t scope = kNone;
  /// The `##` comment of its definition.
  std::string doc = {};
  /// The declared type or the signature, as written; may be empty.
  std::string declaration = {};
  /// Of a kArgument: the operator. Of a kResult: the layer.
  uint32_t owner = kNone;
  /// Indices of its occurrences: definitions first.
  std::vector<uint32_t> occurrences = {};
  /// Of a result that has its name from the returned value: the position of that name.
  uint32_t origin_file = kNone;
  SourceRange origin = {};
  /// Defined in one of the standard layers' files.
  bool is_standard = false;
};

/// A position where a symbol is written.
struct Occurrence {
  uint32_t file;
  SourceRange range;
  uint32_t symbol;
  bool is_definition = false;
  /// The offset from which a definition has an effect: the end of its statement.
  uint32_t effective = 0;
  /// The `if` that contains a definition; empty if there is none.
  SourceRange branches = {};
  /// A target of an assignment with a type.
  bool has_type = false;
  /// A name in an `output` or `return` that also names the result.
  bool names_result = false;
  bool is_return = false;
};

/// A scope of names.
struct NameScope {
  uint32_t file;
  uint32_t parent = Symbol::kNone;
  SourceRange range;
  llvm::StringMap<uint32_t> values = {};     // symbols by name
  llvm::StringMap<uint32_t> sizes = {};      // of symbols of sizes and dtypes; "~T" of ragged dims
  llvm::StringMap<uint32_t> instances = {};  // `layer h = …` and copied layers
};

/// The callable names of a file.
struct FileNames {
  uint32_t scope = Symbol::kNone;
  llvm::StringMap<uint32_t> layers = {};  // own, imported and standard ones
  llvm::StringMap<uint32_t> files = {};   // `import … as NAME`
};

/// All names of the files of an elaboration. Names are resolved in the syntax tree, since layers
/// that are not called and branches that are not taken are not elaborated; where two meanings are
/// possible, facts decide.
struct SymbolTable {
  std::vector<std::shared_ptr<const SourceFile>> files;  // the main file first
  std::vector<Symbol> symbols;
  std::vector<Occurrence> occurrences;  // by file and position
  std::vector<NameScope> scopes;        // the first one is that of the main file
  std::vector<FileNames> file_names;    // by file

  /// The occurrence at an offset, also directly after its last character; null if there is none.
  const Occurrence* Find(uint32_t file, uint32_t offset) const;
  /// The innermost scope of the main file at an offset.
  uint32_t ScopeAt(uint32_t offset) const;
  /// The index of a file; kNone if it is not one of them.
  uint32_t IndexOf(const SourceFile& file) const;
  /// The definitions that an occurrence may refer to.
  std::vector<const Occurrence*> DefinitionsOf(const Occurrence& use) const;
};

/// Resolves all names of the files that an elaboration read.
SymbolTable ResolveSymbols(const ModuleTable& modules, const OpRegistry& registry,
                           const Facts& facts);

}  // namespace pdl

#endif  // PDL_FRONTEND_EDITOR_SYMBOLS_H_
