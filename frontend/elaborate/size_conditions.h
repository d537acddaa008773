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

  /// Reads the relations that must hold for a condition to be true. Returns false if an error was
  /// reported. Adds nothing if it always holds; sets `failed` if it can never hold.
  bool Read(const ast::Expr* condition, std::vector<DimCheck>* checks, bool* failed);

 private:
  /// Adds a relation unless it is decided already.
  void Add(DimCheck check, SourceRange place, std::vector<DimCheck>* checks, bool* failed);
  /// A comparison of sizes or constants, or `in` with a range; nullopt if the expression is
  /// something else.
  std::optional<bool> ReadRelation(const ast::ChainExpr* chain, std::vector<DimCheck>* checks,
                                   bool* failed);
  bool ReadInRange(const ast::ChainExpr* chain, const Dim& item, const ast::ChainExpr* range,
                   std::vector<DimCheck>* checks, bool* failed);
  /// `not condition`.
  bool ReadDenied(const ast::PrefixExpr* denied, std::vector<DimCheck>* checks, bool* failed);
  /// `a or b`: at least one must hold. Those that depend on sizes are combined into one size that
  /// is 1 if one of them holds.
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
