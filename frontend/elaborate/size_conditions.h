#ifndef PDL_FRONTEND_ELABORATE_SIZE_CONDITIONS_H_
#define PDL_FRONTEND_ELABORATE_SIZE_CONDITIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class Expressions;
class Reporter;
class SizeConstraints;
class TypeReader;

/// Conditions on sizes and constants: `where`, `assert`, and those of an `if`.
class SizeConditions {
 public:
  SizeConditions(Position& at, Reporter& report, Budget& budget, SizeConstraints& constraints,
                 TypeReader& types, Expressions& expressions)
      : at_(at),
        report_(report),
        budget_(budget),
        constraints_(constraints),
        types_(types),
        expressions_(expressions) {}

  /// What must hold for a condition to be true; false where a mistake was reported. One that
  /// holds in any case adds nothing; `failed` is set where one never holds.
  bool Read(const ast::Expr* condition, std::vector<DimCheck>* checks, bool* failed);

 private:
  /// Adds a relation that is not decided yet.
  void Add(DimCheck check, SourceRange place, std::vector<DimCheck>* checks, bool* failed);
  /// A comparison of sizes or constants, or `in` a range; nullopt where it is another expression.
  std::optional<bool> ReadRelation(const ast::ChainExpr* chain, std::vector<DimCheck>* checks,
                                   bool* failed);
  bool ReadInRange(const ast::ChainExpr* chain, const Dim& item, const ast::ChainExpr* range,
                   std::vector<DimCheck>* checks, bool* failed);
  /// `not condition`.
  bool ReadDenied(const ast::PrefixExpr* denied, std::vector<DimCheck>* checks, bool* failed);
  /// `a or b`: one must hold. Those that sizes decide become one number that is 1 where one does.
  bool ReadAlternatives(const ast::ChainExpr* chain, std::vector<DimCheck>* checks, bool* failed);

  Position& at_;
  Reporter& report_;
  Budget& budget_;
  SizeConstraints& constraints_;
  TypeReader& types_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_SIZE_CONDITIONS_H_
