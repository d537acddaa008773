#ifndef PDL_FRONTEND_ELABORATE_WEIGHT_LOADS_H_
#define PDL_FRONTEND_ELABORATE_WEIGHT_LOADS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class ParameterNames;
class Reporter;

/// `load "file" into names`, which is done when all parameters are there.
class WeightLoads {
 public:
  WeightLoads(const CompileRequest& request, const Ast& ast, Position& at, Graph& graph,
              std::vector<PendingLoad>& pending_loads, Reporter& report,
              ParameterNames& parameter_names)
      : request_(request),
        ast_(ast),
        at_(at),
        graph_(graph),
        pending_loads_(pending_loads),
        report_(report),
        parameter_names_(parameter_names) {}

  /// `load "file" into names`, when all parameters are there.
  void ElaborateLoads();

 private:
  /// What the statement loads into.
  struct Target;
  Target ReadTarget(const ast::LoadStatement* statement, llvm::StringRef path);
  /// What the file has for the parameter `name`, as `tensor` or else under its whole name, which
  /// goes to `tensor` then.
  llvm::Expected<WeightInfo> FindWeight(llvm::StringRef file, llvm::StringRef name,
                                        std::string* tensor);
  /// Lets a parameter or state come from the file, or adds to `problems` why it cannot; false where
  /// the file cannot be read, which was reported.
  bool LoadVariable(Value* value, const std::string& file, std::string tensor, SourceRange place,
                    std::vector<std::string>* problems);
  void ElaborateLoad(const ast::LoadStatement* statement, Module* module, llvm::StringRef path);

  const CompileRequest& request_;
  const Ast& ast_;
  Position& at_;
  Graph& graph_;
  std::vector<PendingLoad>& pending_loads_;
  Reporter& report_;
  ParameterNames& parameter_names_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_WEIGHT_LOADS_H_
