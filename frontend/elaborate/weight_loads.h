#ifndef PDL_FRONTEND_ELABORATE_WEIGHT_LOADS_H_
#define PDL_FRONTEND_ELABORATE_WEIGHT_LOADS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class ParameterNames;
class Reporter;

/// `load "file" into names`, which is done after all parameters were created.
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

  /// Elaborates all `load "file" into names` statements.
  void ElaborateLoads();

 private:
  /// The destination of the statement.
  struct Target;
  Target ReadTarget(const ast::LoadStatement* statement, llvm::StringRef path);
  /// The weight for the parameter `name` in the file, under the name `tensor` or else under its
  /// full name, which is then assigned to `tensor`.
  llvm::Expected<WeightInfo> FindWeight(llvm::StringRef file, llvm::StringRef name,
                                        std::string* tensor);
  /// Sets the weight of a parameter or state, or adds the reason why it cannot be loaded to
  /// `problems`. Reports an error and returns false if the file cannot be read.
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
