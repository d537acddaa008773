#ifndef PDL_FRONTEND_ELABORATE_CALLEE_TABLE_H_
#define PDL_FRONTEND_ELABORATE_CALLEE_TABLE_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class NameTable;
class Reporter;

/// Resolves a name before '(': to an operator, a layer, a file or a function.
class CalleeTable {
 public:
  CalleeTable(const CompileRequest& request, Position& at, ModuleTable& files, Reporter& report,
              NameTable& names)
      : request_(request), at_(at), files_(files), report_(report), names_(names) {}

  /// The operator with that name, or null.
  const OpDef* FindOperator(llvm::StringRef name);
  /// Resolves the name in the current frame, without reporting errors.
  Callee FindCallee(llvm::StringRef name);
  /// Whether the name may be undefined because of an error that was reported.
  bool IsBroken(llvm::StringRef name) const;
  /// The names of everything callable, in alphabetical order; none after too many suggestions.
  std::vector<llvm::StringRef> CalleeNames();
  /// Resolves the expression before '('; reports an unknown name.
  Callee ResolveCallee(const ast::Expr* callee);

 private:
  /// "; did you mean 'file.layer'?" if an imported file has the layer, otherwise empty.
  std::string HintOfFile(llvm::StringRef layer);
  /// Reports a call of `net.member`, where `net` is no imported file.
  void ReportMethod(const ast::NameExpr* net, const ast::MemberExpr* member);

  const CompileRequest& request_;
  Position& at_;
  ModuleTable& files_;
  Reporter& report_;
  NameTable& names_;
  /// The names of everything callable that no file defines, in alphabetical order.
  std::vector<llvm::StringRef> global_names_;
  llvm::StringMap<const OpDef*> operators_;  // cached lookups; null: no such operator
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_CALLEE_TABLE_H_
