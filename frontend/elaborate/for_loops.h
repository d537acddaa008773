#ifndef PDL_FRONTEND_ELABORATE_FOR_LOOPS_H_
#define PDL_FRONTEND_ELABORATE_FOR_LOOPS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class Expressions;
class NameTable;
class Reporter;
class Statements;

/// `for`: expanded at compile time.
class ForLoops {
 public:
  ForLoops(const CompileRequest& request, Position& at, Reporter& report, Budget& budget,
           NameTable& names, Expressions& expressions, Statements& statements)
      : request_(request),
        at_(at),
        report_(report),
        budget_(budget),
        names_(names),
        expressions_(expressions),
        statements_(statements) {}

  /// Elaborates the body once per iteration.
  void ElaborateFor(const ast::ForStatement* statement);

 private:
  /// The values that a loop iterates over: the ints from `first` on, or the items of a list.
  struct Rounds {
    int64_t first = 0, count = 0;
    Datum list;
  };
  /// Each returns nullopt if an error was reported.
  std::optional<Rounds> ReadRange(const ast::ChainExpr* range,
                                  llvm::ArrayRef<ast::Identifier> names);
  std::optional<Rounds> ReadList(const ast::Expr* over);
  void Expand(const ast::ForStatement* statement, const Rounds& rounds, SourceRange over);

  const CompileRequest& request_;
  Position& at_;
  Reporter& report_;
  Budget& budget_;
  NameTable& names_;
  Expressions& expressions_;
  Statements& statements_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_FOR_LOOPS_H_
