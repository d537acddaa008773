#ifndef PDL_FRONTEND_ELABORATE_SIZE_CONDITIONS_H_
#define PDL_FRONTEND_ELABORATE_SIZE_CONDITIONS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class CallEmitter;
class Expressions;
class OperatorExpressions;
class Reporter;
class SizeConstraints;
class TypeReader;

/// Conditions on sizes and constants: `where`, `assert`, and those of an `if`. Those of an `assert`
/// may also depend on values of the data.
class SizeConditions {
 public:
  SizeConditions(Position& at, Reporter& report, Budget& budget, SizeConstraints& constraints,
                 TypeReader& types, CallEmitter& emitter, Expressions& expressions,
                 OperatorExpressions& operators)
      : at_(at),
        report_(report),
        budget_(budget),
        constraints_(constraints),
        types_(types),
        emitter_(emitter),
        expressions_(expressions),
        operators_(operators) {}

  /// Reads the relations that must hold for a condition to be true. Returns false if an error was
  /// reported. Adds nothing if it always holds; sets `failed` if it can never hold.
  bool Read(const ast::Expr* condition, std::vector<DimCheck>* checks, bool* failed);
  /// The same for a condition that may depend on values of the data: adds bool tensors that must be
  /// true as well.
  bool ReadWithValues(const ast::Expr* condition, std::vector<DimCheck>* checks,
                      std::vector<Operand>* values, bool* failed);
  /// A tensor, known when a run begins if there are no values, that is true if all checks hold and
  /// all values are true; the constant true if there are none of both. Poison after an error.
  Operand Conjunction(llvm::ArrayRef<DimCheck> checks, llvm::ArrayRef<Operand> values,
                      SourceRange range);

 private:
  /// Whether a size that is 1 if a condition holds, else 0, can be represented; if not, an error is
  /// reported.
  bool CanDecide(const Dim& holds, SourceRange range);
  /// Adds a relation unless it is decided already. Returns whether it can be represented; if not,
  /// an error is reported.
  bool Add(DimCheck check, SourceRange place, std::vector<DimCheck>* checks, bool* failed);
  /// A comparison of sizes or constants, or `in` with a range; nullopt if the expression is
  /// something else.
  std::optional<bool> ReadRelation(const ast::ChainExpr* chain, std::vector<DimCheck>* checks,
                                   bool* failed);
  bool ReadInRange(const ast::ChainExpr* chain, const Dim& item, const ast::ChainExpr* range,
                   std::vector<DimCheck>* checks, bool* failed);
  bool ReadValueInRange(const Operand& item, const ast::ChainExpr* range);
  /// The scalar that says whether a relation between sizes holds; poison after an error.
  Datum EmitCheck(const DimCheck& check, SourceRange range);
  /// Adds a condition that is a tensor to `values_`; reports an error and returns false if it is
  /// not bool.
  bool AddValue(const Datum& value, SourceRange range);
  /// `not condition`.
  bool ReadDenied(const ast::PrefixExpr* denied, std::vector<DimCheck>* checks, bool* failed);
  /// At least one of several conjunctions must hold, of which one depends on values.
  bool AddAlternatives(llvm::ArrayRef<std::vector<DimCheck>> checks,
                       llvm::ArrayRef<std::vector<Operand>> values, SourceRange range);
  /// `a or b`: at least one must hold. Those that depend on sizes are combined into one size that
  /// is 1 if one of them holds.
  bool ReadAlternatives(const ast::ChainExpr* chain, std::vector<DimCheck>* checks, bool* failed);

  Position& at_;
  Reporter& report_;
  Budget& budget_;
  SizeConstraints& constraints_;
  TypeReader& types_;
  CallEmitter& emitter_;
  Expressions& expressions_;
  OperatorExpressions& operators_;
  /// Collects conditions on values of the data; null: they are errors.
  std::vector<Operand>* values_ = nullptr;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_SIZE_CONDITIONS_H_
