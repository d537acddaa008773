#ifndef PDL_FRONTEND_ELABORATE_LOAD_CALLS_H_
#define PDL_FRONTEND_ELABORATE_LOAD_CALLS_H_

#include "frontend/elaborate/elaboration_state.h"
#include "pdl/weight_rules.h"

namespace pdl {

class Expressions;
class Reporter;

/// Reads the arguments of `load`: of the call, which is an initializer, and of the statement.
class LoadCalls {
 public:
  LoadCalls(Position& at, Reporter& report, Expressions& expressions)
      : at_(at), report_(report), expressions_(expressions) {}

  /// Whether the expression is a call of `load`.
  static bool IsLoad(const ast::Expr* expr);
  /// Reads `load("file", "tensor", cast=true, transpose=true)`; nullopt if an error was reported.
  std::optional<LoadCall> ReadCall(const ast::CallExpr* call);
  /// Reads `{cast=true, partial=true, rename={"from": "to"}, transpose=["*.weight"]}`; nullopt if
  /// an error was reported.
  std::optional<WeightRules> ReadRules(const ast::Expr* with);
  /// Whether a network can be stored with a weight of the file or tensor `name`, which is `text` in
  /// the source at `place`; if not, reports an error. `what`: "file" or "tensor".
  bool CheckName(SourceRange place, llvm::StringRef text, llvm::StringRef name, const char* what);

 private:
  bool ReadRule(const ast::Argument& field, WeightRules* rules);
  bool ReadBool(const ast::Argument& field, bool* value);
  bool ReadRename(const ast::Expr* expr, WeightRules* rules);
  bool ReadTranspose(const ast::Expr* expr, WeightRules* rules);

  Position& at_;
  Reporter& report_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LOAD_CALLS_H_
