#ifndef PDL_FRONTEND_ELABORATE_WEIGHT_LOADS_H_
#define PDL_FRONTEND_ELABORATE_WEIGHT_LOADS_H_

#include <vector>

#include "frontend/elaborate/elaboration_state.h"
#include "pdl/compiler/weights.h"

namespace pdl {

class LoadCalls;
class ParameterNames;
class Reporter;

/// `load "file" into names with {…}`, which is done after all parameters were created.
class WeightLoads {
 public:
  WeightLoads(const CompileRequest& request, const Ast& ast, Position& at, Graph& graph,
              std::vector<PendingLoad>& pending_loads, Reporter& report,
              ParameterNames& parameter_names, LoadCalls& load_calls)
      : request_(request),
        ast_(ast),
        at_(at),
        graph_(graph),
        pending_loads_(pending_loads),
        report_(report),
        parameter_names_(parameter_names),
        load_calls_(load_calls) {}

  /// Elaborates all `load "file" into names` statements.
  void ElaborateLoads();

 private:
  /// The parameters and states that a statement names.
  struct Target;
  /// A file that statements load, and what the network has no name for.
  struct LoadedFile {
    std::string file;
    const WeightListing* listing;
    std::shared_ptr<const SourceFile> text;
    SourceRange place;  // of the first statement
    bool partial;
    std::vector<const WeightEntry*> unused;
  };

  Target ReadTarget(const ast::LoadStatement* statement, llvm::StringRef path);
  void ElaborateLoad(const ast::LoadStatement* statement, Module* module, llvm::StringRef path);
  void LoadTargets(const ast::LoadStatement* statement, const std::string& file,
                   const WeightRules& rules, llvm::ArrayRef<WeightTarget> targets);
  /// Reports the tensors of the loaded files that no parameter or state uses.
  void ReportUnused();

  const CompileRequest& request_;
  const Ast& ast_;
  Position& at_;
  Graph& graph_;
  std::vector<PendingLoad>& pending_loads_;
  Reporter& report_;
  ParameterNames& parameter_names_;
  LoadCalls& load_calls_;
  std::vector<LoadedFile> loaded_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_WEIGHT_LOADS_H_
