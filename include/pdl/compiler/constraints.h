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

/// Whether something holds for all sizes, or for none.
enum class Truth : uint8_t { kFalse, kTrue, kUnknown };

/// What is known of a relation, whatever the symbols stand for.
PDL_API Truth Decide(const DimCheck& check);

/// Sizes that break a relation.
struct PDL_API Counterexample {
  /// In the order in which the relation, then the constraints, name the symbols.
  std::vector<std::pair<std::string, int64_t>> sizes;

  /// "N=257, T=3".
  std::string ToString() const;
};

/// What is known of the sizes of a network: relations that hold in every run.
class PDL_API ConstraintSet {
 public:
  /// How many relations are used. Each costs time in all others, and the first ones tell most.
  static constexpr size_t kMaxUsed = 64;
  void Add(const DimCheck& check);

  /// Whether a relation holds for all sizes that keep the constraints. True and false are certain;
  /// sizes for which a side has no value (a division by zero, more than 64 bits) do not count.
  /// Where no sizes keep the constraints, what Decide says without any.
  Truth Decide(const DimCheck& check) const;
  /// Sizes that keep the constraints and break the relation: the least ones above sizes for which
  /// it holds, else the least. Nullopt where a bounded search finds none.
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
  /// What follows from them: symbols that other ones stand for (a multiple and a rest, a lower
  /// bound, what they are equal to), the largest values of those that remain, and what is left
  /// over.
  llvm::StringMap<Dim> values_;
  llvm::StringMap<int64_t> highs_;
  std::vector<Relation> relations_;
  bool contradictory_ = false;
};

}  // namespace pdl

#endif  // PDL_COMPILER_CONSTRAINTS_H_
