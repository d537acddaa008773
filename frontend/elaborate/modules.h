#ifndef PDL_FRONTEND_ELABORATE_MODULES_H_
#define PDL_FRONTEND_ELABORATE_MODULES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class CalleeTable;
class LayerChecks;
class Reporter;

/// Source files: the layers that each defines, and those that it imports.
class Modules {
 public:
  Modules(const CompileRequest& request, Position& at, ModuleTable& files, Reporter& report,
          CalleeTable& callees, LayerChecks& layer_checks)
      : request_(request),
        at_(at),
        files_(files),
        report_(report),
        callees_(callees),
        layer_checks_(layer_checks) {}

  /// Adds a parsed file; `folder` ends with '/' unless it is empty.
  Module* AddModule(const Ast& ast, llvm::StringRef folder, bool is_standard);
  /// Adds the files of the request's library.
  void AddStandardLayers();
  /// Collects the layers of a file and reads its imports.
  void EnterModule(Module* module);

 private:
  void ReadImport(Module* module, const ast::ImportStatement* statement);
  Module* ImportFile(Module* module, const ast::ImportStatement* statement);
  /// Reports that a file that is imported at `path` could not be read. Throws std::bad_alloc if
  /// there was no memory for it.
  void ReportUnreadable(llvm::Error error, SourceRange path);

  const CompileRequest& request_;
  Position& at_;
  ModuleTable& files_;
  Reporter& report_;
  CalleeTable& callees_;
  LayerChecks& layer_checks_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_MODULES_H_
