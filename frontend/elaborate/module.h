#ifndef PDL_FRONTEND_ELABORATE_MODULE_H_
#define PDL_FRONTEND_ELABORATE_MODULE_H_

#include <memory>
#include <string>
#include <vector>

#include "frontend/syntax/ast.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/source.h"

namespace pdl {

/// One parsed file and the layers that it can call by name.
struct Module {
  explicit Module(const Ast& parsed) : ast(&parsed), file(parsed.file), cursor(*parsed.file) {}

  const Ast* ast;
  std::shared_ptr<const SourceFile> file;
  /// Relative to the folder of the main file, with a final '/'; empty for that folder.
  std::string folder;
  /// One of the standard layers' files.
  bool is_standard = false;
  uint32_t file_index = UINT32_MAX;  // in the graph, once it was added
  PositionCursor cursor;
  /// Layers defined in the file.
  llvm::StringMap<const ast::LayerStatement*> layers;
  /// Names with an erroneous definition, which was reported: calls of them are silent.
  llvm::StringMap<SourceRange> broken_names;
  /// Layers of plain imports, with their modules.
  llvm::StringMap<Module*> imported;
  /// A plain import failed: it might have defined an unknown name.
  bool lacks_import = false;
  /// `import … as name`; null where it failed.
  llvm::StringMap<Module*> named;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_MODULE_H_
