// Exhaustive search over small ranges of sizes, and the search for counterexamples.
#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/dim_program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/constraints.h"

namespace pdl {

/// Enumerates sizes of the symbols that a relation depends on, directly or through constraints.
class ConstraintSet::Search {
 public:
  Search(const ConstraintSet& set, llvm::ArrayRef<Dim> dims) {
    for (const Dim& dim : dims) AddSymbolsOf(dim);
    num_asked_ = symbols_.size();
    std::vector<bool> used(set.relations_.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < used.size(); ++i) {
        const Relation& relation = set.relations_[i];
        bool shares = false;
        relation.difference.ForEachSymbol(
            [&](llvm::StringRef symbol) { shares |= IndexOf(symbol) >= 0; });
        if (used[i] || !shares) continue;
        used[i] = changed = true;
        related_.push_back(&relation);
        AddSymbolsOf(relation.difference);
      }
    }
    for (const std::string& symbol : symbols_) {
      const auto high = set.highs_.find(symbol);
      highs_.push_back(high == set.highs_.end() ? std::nullopt : std::optional(high->second));
    }
    sizes_.assign(symbols_.size(), 0);
  }

  size_t num_symbols() const { return symbols_.size(); }
  /// Symbols of the relation itself come first.
  size_t num_asked() const { return num_asked_; }
  llvm::StringRef symbol(size_t index) const { return symbols_[index]; }
  bool knows(llvm::StringRef symbol) const { return IndexOf(symbol) >= 0; }
  int64_t& size(size_t index) { return sizes_[index]; }
  std::optional<int64_t> High(size_t index) const { return highs_[index]; }

  /// A relation of a difference with 0, to be evaluated for many sizes.
  struct CompiledRelation {
    DimCheck check;  // of the difference's value with 0
    DimProgram difference;
  };
  /// Compiles the relation to search for, and the constraints that it depends on.
  CompiledRelation Begin(DimCheck::Relation kind, const Dim& difference) {
    for (const Relation* relation : std::exchange(related_, {}))
      relations_.push_back(Compile(relation->kind, relation->difference));
    return Compile(kind, difference);
  }
  std::optional<int64_t> Evaluate(const Dim& dim) const { return Compile(dim).Evaluate(sizes_); }
  bool Keeps() const {
    for (size_t i = 0; i < sizes_.size(); ++i)
      if (highs_[i] && sizes_[i] > *highs_[i]) return false;
    return llvm::all_of(relations_, [&](const CompiledRelation& relation) {
      const std::optional<int64_t> value = relation.difference.Evaluate(sizes_);
      return value && relation.check.Holds(*value, 0);
    });
  }
  /// Whether the relation holds; nullopt if the sizes violate a constraint or a side has no value.
  std::optional<bool> Holds(const CompiledRelation& relation) const {
    if (!Keeps()) return std::nullopt;
    const std::optional<int64_t> value = relation.difference.Evaluate(sizes_);
    if (!value) return std::nullopt;
    return relation.check.Holds(*value, 0);
  }

  /// Advances to the next sizes, each at most its `most`; returns false after the last ones.
  bool Step(llvm::ArrayRef<int64_t> most) {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i] < most[i]) return ++sizes_[i], true;
      sizes_[i] = 0;
    }
    return false;
  }

  /// Sets a symbol to the smallest size that violates the relation, above a size for which it
  /// holds; or to the smallest violating size (then `*is_above` is false). Returns false if there
  /// is none.
  bool Scan(size_t index, const CompiledRelation& relation, bool* is_above) {
    constexpr int64_t kDense = 1024, kMost = int64_t{1} << 40;
    int64_t most = std::min(High(index).value_or(kMost), kMost);
    std::optional<int64_t> good, least;
    auto holds = [&](int64_t size) {
      sizes_[index] = size;
      return Holds(relation);
    };
    for (int64_t size = 0; size <= most;) {
      std::optional<bool> good_here = holds(size);
      if (good_here && *good_here) good = size;
      if (good_here && !*good_here) {
        if (good) {
          while (size - *good > 1) {
            int64_t middle = *good + (size - *good) / 2;
            std::optional<bool> there = holds(middle);
            if (!there) break;
            (*there ? *good : size) = middle;
          }
          sizes_[index] = size;
          return *is_above = true;
        }
        if (!least) least = size;
      }
      if (size == most) break;
      size = std::min(size < kDense ? size + 1 : size * 2, most);
    }
    *is_above = false;
    if (least) sizes_[index] = *least;
    return least.has_value();
  }

 private:
  DimProgram Compile(const Dim& dim) const {
    return DimProgram(dim, [&](llvm::StringRef symbol) { return IndexOf(symbol); });
  }
  CompiledRelation Compile(DimCheck::Relation kind, const Dim& difference) const {
    return {DimCheck{0, kind, 0, ""}, Compile(difference)};
  }
  int IndexOf(llvm::StringRef symbol) const {
    auto found = llvm::find(symbols_, symbol);
    return found == symbols_.end() ? -1 : static_cast<int>(found - symbols_.begin());
  }
  void AddSymbolsOf(const Dim& dim) {
    dim.ForEachSymbol([&](llvm::StringRef symbol) {
      if (IndexOf(symbol) < 0) symbols_.push_back(symbol.str());
    });
  }

  std::vector<std::string> symbols_;
  size_t num_asked_ = 0;
  std::vector<const Relation*> related_;  // until Begin
  std::vector<CompiledRelation> relations_;
  std::vector<std::optional<int64_t>> highs_;  // of the symbols
  std::vector<int64_t> sizes_;
};

Truth ConstraintSet::DecideByCases(DimCheck::Relation kind, const Dim& difference) const {
  constexpr int64_t kMaxCases = 1024;
  Search search(*this, difference);
  llvm::SmallVector<int64_t, 4> most;
  int64_t cases = 1;
  for (size_t i = 0; i < search.num_symbols(); ++i) {
    std::optional<int64_t> high = search.High(i);
    if (!high || *high >= kMaxCases || (cases *= *high + 1) > kMaxCases) return Truth::kUnknown;
    most.push_back(*high);
  }
  const Search::CompiledRelation relation = search.Begin(kind, difference);
  bool any_true = false, any_false = false;
  do {
    std::optional<bool> holds = search.Holds(relation);
    if (holds) (*holds ? any_true : any_false) = true;
  } while (search.Step(most) && !(any_true && any_false));
  if (any_true == any_false) return Truth::kUnknown;
  return any_true ? Truth::kTrue : Truth::kFalse;
}

/// The search for sizes that satisfy a set of constraints and violate `check`.
class ConstraintSet::Refutation {
 public:
  Refutation(const ConstraintSet& set, const DimCheck& check, const Dim& difference)
      : set_(set),
        check_(check),
        written_(SymbolsOf(check)),
        search_(set, DimsOf(set, difference, written_)),
        relation_(search_.Begin(check.relation, difference)) {
    AddRelatedSymbols();
  }

  /// Varies one symbol at a time. The others are small, and preferably not 0.
  std::optional<Counterexample> VaryOne();
  /// Varies all symbols together, within small sizes; the sum of the sizes is the least possible.
  std::optional<Counterexample> VaryAll();

 private:
  static std::vector<std::string> SymbolsOf(const DimCheck& check) {
    std::vector<std::string> symbols;
    AddSymbols(check, &symbols);
    return symbols;
  }
  static void AddSymbols(const DimCheck& check, std::vector<std::string>* symbols) {
    auto add = [&](llvm::StringRef symbol) {
      if (!llvm::is_contained(*symbols, symbol)) symbols->push_back(symbol.str());
    };
    check.left.ForEachSymbol(add);
    check.right.ForEachSymbol(add);
  }
  static std::vector<Dim> DimsOf(const ConstraintSet& set, const Dim& difference,
                                 llvm::ArrayRef<std::string> symbols) {
    std::vector<Dim> dims = {difference};
    for (const std::string& symbol : symbols) dims.push_back(set.Reduce(Dim::Symbol(symbol)));
    return dims;
  }
  /// Adds the symbols of constraints that share a symbol with the check, directly or after
  /// substitution.
  void AddRelatedSymbols();
  /// The current sizes, as the user wrote the symbols; nullopt if one of them has no valid size.
  std::optional<Counterexample> Example() const;
  bool IsViolated() const {
    std::optional<bool> holds = search_.Holds(relation_);
    return holds && !*holds;
  }

  const ConstraintSet& set_;
  const DimCheck& check_;
  /// The symbols as they were written: those of the check, then those of constraints.
  std::vector<std::string> written_;
  Search search_;
  Search::CompiledRelation relation_;
};

void ConstraintSet::Refutation::AddRelatedSymbols() {
  const size_t num_asked = written_.size();
  for (const DimCheck& known : set_.checks_) {
    bool shares = false;
    for (const Dim* side : {&known.left, &known.right})
      side->ForEachSymbol([&](llvm::StringRef symbol) {
        set_.Reduce(Dim::Symbol(symbol)).ForEachSymbol([&](llvm::StringRef s) {
          shares |= search_.knows(s);
        });
        shares |= llvm::is_contained(llvm::ArrayRef(written_).take_front(num_asked), symbol);
      });
    if (shares) AddSymbols(known, &written_);
  }
}

std::optional<Counterexample> ConstraintSet::Refutation::Example() const {
  Counterexample example;
  for (const std::string& symbol : written_) {
    std::optional<int64_t> size = search_.Evaluate(set_.Reduce(Dim::Symbol(symbol)));
    if (!size || *size < 0) return std::nullopt;
    example.sizes.push_back({symbol, *size});
  }
  return example;
}

std::optional<Counterexample> ConstraintSet::Refutation::VaryOne() {
  std::optional<Counterexample> least;
  for (int base = 0; base < 4; ++base) {
    auto rest = [&](size_t i) -> int64_t {
      const bool is_written = !search_.symbol(i).ends_with("'");
      return base == 0 ? is_written : base == 1 ? 0 : base;
    };
    for (size_t i = 0; i < search_.num_asked(); ++i) {
      for (size_t j = 0; j < search_.num_symbols(); ++j) search_.size(j) = rest(j);
      bool is_above = false;
      if (!search_.Scan(i, relation_, &is_above)) continue;
      std::optional<Counterexample> example = Example();
      if (example && is_above) return example;
      if (!least) least = std::move(example);
    }
  }
  return least;
}

std::optional<Counterexample> ConstraintSet::Refutation::VaryAll() {
  constexpr double kMaxCases = 20000;
  constexpr int64_t kMaxSize = 64;
  const size_t n = search_.num_symbols();
  int64_t most = 0;
  while (most < kMaxSize &&
         std::pow(static_cast<double>(most + 2), static_cast<double>(n)) < kMaxCases)
    ++most;
  const std::vector<int64_t> highest(n, most);
  std::optional<Counterexample> least;
  int64_t least_sum = INT64_MAX;
  for (size_t i = 0; i < n; ++i) search_.size(i) = 0;
  do {
    int64_t sum = 0;
    for (size_t i = 0; i < n; ++i) sum += search_.size(i);
    if (sum >= least_sum || !IsViolated()) continue;
    if (std::optional<Counterexample> example = Example()) {
      least = std::move(example);
      least_sum = sum;
    }
  } while (search_.Step(highest));
  return least;
}

std::optional<Counterexample> ConstraintSet::Refute(const DimCheck& check) const {
  if (contradictory_) return std::nullopt;
  const Dim difference = Reduce(check.left - check.right);
  if (!difference.is_valid()) return std::nullopt;
  Refutation refutation(*this, check, difference);
  std::optional<Counterexample> example = refutation.VaryOne();
  return example ? example : refutation.VaryAll();
}

std::string Counterexample::ToString() const {
  std::vector<std::string> texts;
  for (const auto& [symbol, size] : sizes) texts.push_back(symbol + "=" + std::to_string(size));
  return llvm::join(texts, ", ");
}

}  // namespace pdl
