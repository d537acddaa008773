// Module: ir
#ifndef PDL_COMPILER_CONSTRAINTS_H_
#define PDL_COMPILER_CONSTRAINTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "pdl/op/inference.h"

namespace pdl {

/// Whether a relation holds for all sizes, for none, or is undecided.
enum class Truth : uint8_t { kFalse, kTrue, kUnknown };

/// Decides a relation for all values of its symbols, without any constraints.
PDL_API Truth Decide(const DimCheck& check);

/// Sizes for which a relation does not hold.
struct PDL_API Counterexample {
  /// Symbols and their sizes, in order of appearance in the relation, then in the constraints.
  std::vector<std::pair<std::string, int64_t>> sizes;

  /// "N=257, T=3".
  std::string ToString() const;
};

/// The relations between the sizes of a network that hold in every run.
class PDL_API ConstraintSet {
 public:
  /// The number of relations that are used; further ones are ignored, because each one adds to the
  /// cost of every query.
  static constexpr size_t kMaxUsed = 64;
  void Add(const DimCheck& check);

  /// Decides whether a relation holds for all sizes that satisfy the constraints. kTrue and kFalse
  /// are certain. Sizes for which a side has no value (a division by zero, or more than 64 bits)
  /// are ignored. If no sizes satisfy the constraints, returns the free function Decide's answer.
  Truth Decide(const DimCheck& check) const;
  /// The same from bounds and common divisors only, without distinguishing cases: fast enough for
  /// every call of a large network, but more relations are undecided.
  Truth DecideByBounds(const DimCheck& check) const;
  /// Finds sizes that satisfy the constraints and violate the relation: the smallest ones above
  /// sizes for which it holds, else the smallest. Returns nullopt if a bounded search finds none.
  std::optional<Counterexample> Refute(const DimCheck& check) const;

 private:
  class Search;
  class Refutation;
  struct Interval;
  struct Relation {
    DimCheck::Relation kind;
    Dim difference;  // compared with 0
  };

  void Derive();
  bool DeriveOnce();
  bool UseEquality(const Dim& zero);
  bool UseBound(const Dim& at_least);
  bool UseDifference(const Dim& not_zero);
  void Replace(llvm::StringRef symbol, const Dim& by);
  Dim Reduce(const Dim& dim) const;
  Interval BoundsOf(const Dim& dim) const;
  Interval TightBoundsOf(const Dim& dim) const;
  Truth DecideReduced(DimCheck::Relation kind, const Dim& difference) const;
  Truth DecideByRemainders(DimCheck::Relation kind, const Dim& difference) const;
  Truth DecideByCases(DimCheck::Relation kind, const Dim& difference) const;

  std::vector<DimCheck> checks_;
  /// Facts derived from the constraints: substitutions for symbols (a multiple plus a remainder, a
  /// lower bound, an equal expression), upper bounds of the remaining symbols, and the relations
  /// that no substitution expresses.
  llvm::StringMap<Dim> values_;
  llvm::StringMap<int64_t> highs_;
  std::vector<Relation> relations_;
  bool contradictory_ = false;
};

}  // namespace pdl

#endif  // PDL_COMPILER_CONSTRAINTS_H_
