#ifndef PDL_FRONTEND_ELABORATE_CALLEE_TABLE_H_
#define PDL_FRONTEND_ELABORATE_CALLEE_TABLE_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class NameTable;
class Reporter;

/// Finds what a name in front of '(' stands for: an operator, a layer, a file or a function.
class CalleeTable {
 public:
  CalleeTable(const CompileRequest& request, Position& at, ModuleTable& files, Reporter& report,
              NameTable& names)
      : request_(request), at_(at), files_(files), report_(report), names_(names) {}

  /// The operator of that name, or null.
  const OpDef* FindOperator(llvm::StringRef name);
  /// What the name is in the open frame; reports nothing.
  Callee FindCallee(llvm::StringRef name);
  /// Whether the name may be unknown for a mistake that was reported.
  bool IsBroken(llvm::StringRef name) const;
  /// What may be called, in alphabetical order.
  std::vector<llvm::StringRef> CalleeNames();
  /// What the name before '(' is; reports an unknown one.
  Callee ResolveCallee(const ast::Expr* callee);

 private:
  const CompileRequest& request_;
  Position& at_;
  ModuleTable& files_;
  Reporter& report_;
  NameTable& names_;
  llvm::StringMap<const OpDef*> operators_;  // those that were looked for; null: there is none
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_CALLEE_TABLE_H_
