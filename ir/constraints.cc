#include "pdl/compiler/constraints.h"

#include <algorithm>
#include <numeric>

#include "ir/dim_polynomial.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using Kind = DimCheck::Relation;

Truth Decide(const DimCheck& check) {
  if (check.left.is_ragged() || check.right.is_ragged()) {
    const bool is_equal = check.left == check.right;
    return is_equal == (check.relation != Kind::kNotEqual) ? Truth::kTrue : Truth::kFalse;
  }
  const Dim difference = check.left - check.right;
  if (!difference.is_valid()) return Truth::kUnknown;
  const bool is_equal = difference.is_constant(0);
  const bool above = difference.ProvablyAtLeast(1);
  const bool below = difference.ProvablyAtMost(-1);
  switch (check.relation) {
    case Kind::kEqual:
      return is_equal ? Truth::kTrue : above || below ? Truth::kFalse : Truth::kUnknown;
    case Kind::kNotEqual:
      return is_equal ? Truth::kFalse : above || below ? Truth::kTrue : Truth::kUnknown;
    case Kind::kAtLeast:
      return difference.ProvablyAtLeast(0) ? Truth::kTrue : below ? Truth::kFalse : Truth::kUnknown;
  }
  return Truth::kUnknown;
}

// --- Intervals -----------------------------------------------------------------------------------

namespace {

DimInterval Add(const DimInterval& a, const DimInterval& b) {
  DimInterval sum;
  if (a.low && b.low) sum.low = Narrow(static_cast<__int128>(*a.low) + *b.low);
  if (a.high && b.high) sum.high = Narrow(static_cast<__int128>(*a.high) + *b.high);
  return sum;
}

DimInterval Multiply(const DimInterval& a, const DimInterval& b) {
  if (a.low && a.high && b.low && b.high) {
    __int128 products[] = {
        static_cast<__int128>(*a.low) * *b.low, static_cast<__int128>(*a.low) * *b.high,
        static_cast<__int128>(*a.high) * *b.low, static_cast<__int128>(*a.high) * *b.high};
    auto [low, high] = std::minmax_element(std::begin(products), std::end(products));
    return {Narrow(*low), Narrow(*high)};
  }
  bool a_is_natural = a.low && *a.low >= 0, b_is_natural = b.low && *b.low >= 0;
  if (a_is_natural && b_is_natural) {
    std::optional<int64_t> low = Narrow(static_cast<__int128>(*a.low) * *b.low);
    return {low ? low : 0, std::nullopt};
  }
  bool a_is_negative = a.high && *a.high <= 0, b_is_negative = b.high && *b.high <= 0;
  if ((a_is_natural && b_is_negative) || (a_is_negative && b_is_natural)) return {std::nullopt, 0};
  if (a_is_negative && b_is_negative) return {0, std::nullopt};
  return {};
}

/// Bounds of a Dim whose symbols are in [0, `highs`].
class Bounds {
 public:
  explicit Bounds(const llvm::StringMap<int64_t>& highs) : highs_(highs) {}

  DimInterval Of(const Dim& dim) {
    if (!dim.is_valid()) return {};
    if (dim.is_constant()) return {Narrow(dim.constant()), Narrow(dim.constant())};
    DimInterval sum{0, 0};
    for (const DimTerm& term : dim.polynomial()->terms) {
      DimInterval product{Narrow(term.coefficient), Narrow(term.coefficient)};
      for (const auto& [atom, power] : term.factors) {
        DimInterval bounds = Of(*atom);
        for (unsigned i = 0; i < power; ++i) product = Multiply(product, bounds);
      }
      sum = Add(sum, product);
    }
    return sum;
  }

 private:
  DimInterval Of(const DimAtom& atom) {
    if (auto found = known_.find(&atom); found != known_.end()) return found->second;
    DimInterval bounds = Compute(atom);
    known_[&atom] = bounds;
    return bounds;
  }

  DimInterval Compute(const DimAtom& atom) {
    if (atom.kind == DimAtom::Kind::kSymbol) {
      auto high = highs_.find(atom.symbol);
      return {0, high == highs_.end() ? std::nullopt : std::optional(high->second)};
    }
    DimInterval a = Of(atom.a), b = Of(atom.b), result;
    switch (atom.kind) {
      case DimAtom::Kind::kFloorDiv:
        if (atom.b.is_constant() && atom.b.constant() > 0) {
          if (a.low) result.low = FloorDivide(*a.low, atom.b.constant());
          if (a.high) result.high = FloorDivide(*a.high, atom.b.constant());
        } else if (a.low && *a.low >= 0 && b.low && *b.low >= 0) {
          result = {0, a.high};
        }
        return result;
      case DimAtom::Kind::kMod:
        if (!b.low || *b.low < 0) return {};
        if (a.low && *a.low >= 0) result.high = a.high;
        if (b.high && (!result.high || *result.high > *b.high - 1)) result.high = *b.high - 1;
        result.low = 0;
        return result;
      case DimAtom::Kind::kMin:
        if (a.low && b.low) result.low = std::min(*a.low, *b.low);
        result.high = a.high && b.high ? std::min(*a.high, *b.high) : a.high ? a.high : b.high;
        return result;
      default:
        if (a.high && b.high) result.high = std::max(*a.high, *b.high);
        result.low = a.low && b.low ? std::max(*a.low, *b.low) : a.low ? a.low : b.low;
        return result;
    }
  }

  const llvm::StringMap<int64_t>& highs_;
  llvm::DenseMap<const DimAtom*, DimInterval> known_;
};

/// The symbol of a term `c * S`, else empty.
llvm::StringRef SymbolOf(const DimTerm& term) {
  if (term.factors.size() != 1 || term.factors[0].second != 1) return {};
  return term.factors[0].first->symbol;
}

size_t CountOf(const Dim& dim, llvm::StringRef symbol) {
  size_t count = 0;
  dim.ForEachSymbol([&](llvm::StringRef name) { count += name == symbol; });
  return count;
}

/// The Dim without one of its terms.
Dim Without(const Dim& dim, const DimTerm& term) {
  llvm::SmallVector<DimTerm, 1> terms = {term};
  return dim - DimPolynomial::Make(std::move(terms));
}

/// The greatest common divisor of all coefficients except the constant term's.
int64_t ContentOf(const Dim& dim) {
  int64_t content = 0;
  for (const DimTerm& term : DimPolynomial::Terms(dim))
    if (!term.factors.empty() && term.coefficient != INT64_MIN)
      content = std::gcd(content, term.coefficient);
  return content;
}

int64_t ConstantOf(const Dim& dim) {
  for (const DimTerm& term : DimPolynomial::Terms(dim))
    if (term.factors.empty()) return term.coefficient;
  return 0;
}

/// Calls `visit` for each atom, including nested ones.
void ForEachAtom(const Dim& dim, llvm::function_ref<void(const DimAtom&)> visit) {
  for (const DimTerm& term : DimPolynomial::Terms(dim)) {
    for (const auto& factor : term.factors) {
      visit(*factor.first);
      ForEachAtom(factor.first->a, visit);
      ForEachAtom(factor.first->b, visit);
    }
  }
}

/// Solves a * x == b modulo m; nullopt if there is no solution. Solutions have the period
/// `*period`.
std::optional<int64_t> SolveCongruence(int64_t a, int64_t b, int64_t m, int64_t* period) {
  int64_t common = std::gcd(a, m);
  if (b % common != 0) return std::nullopt;
  *period = m / common;
  // Extended Euclid: the inverse of a / common.
  int64_t r0 = *period, r1 = ((a / common) % *period + *period) % *period, t0 = 0, t1 = 1;
  while (r1 != 0) {
    int64_t q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    t0 = std::exchange(t1, t0 - q * t1);
  }
  __int128 x = static_cast<__int128>(t0) * (b / common % *period) % *period;
  return static_cast<int64_t>(x < 0 ? x + *period : x);
}

}  // namespace

struct ConstraintSet::Interval : DimInterval {};

ConstraintSet::Interval ConstraintSet::BoundsOf(const Dim& dim) const {
  return {Bounds(highs_).Of(dim)};
}

// --- Deriving facts from the constraints ---------------------------------------------------------

void ConstraintSet::Add(const DimCheck& check) {
  if (checks_.size() == kMaxUsed) return;
  checks_.push_back(check);
  Derive();
}

Dim ConstraintSet::Reduce(const Dim& dim) const {
  return dim.Substitute([&](llvm::StringRef symbol) -> std::optional<Dim> {
    auto found = values_.find(symbol);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  });
}

void ConstraintSet::Replace(llvm::StringRef symbol, const Dim& by) {
  auto lookup = [&](llvm::StringRef name) {
    return name == symbol ? std::optional(by) : std::nullopt;
  };
  for (auto& entry : values_) entry.second = entry.second.Substitute(lookup);
  values_.try_emplace(symbol, by);
  for (Relation& relation : relations_)
    relation.difference = relation.difference.Substitute(lookup);
  highs_.erase(symbol);
}

void ConstraintSet::Derive() {
  constexpr int kMaxRounds = 64;
  values_.clear();
  highs_.clear();
  relations_.clear();
  contradictory_ = false;
  for (const DimCheck& check : checks_) {
    Dim difference = check.left - check.right;
    if (difference.is_valid()) relations_.push_back({check.relation, std::move(difference)});
  }
  for (int round = 0; round < kMaxRounds && !contradictory_ && DeriveOnce(); ++round) {
  }
}

/// Applies the relations until one of them yields a new fact; returns false if none does.
bool ConstraintSet::DeriveOnce() {
  llvm::erase_if(relations_, [&](const Relation& relation) {
    if (!relation.difference.is_valid()) return true;
    if (!relation.difference.is_constant()) return false;
    DimCheck check{relation.difference, relation.kind, 0, ""};
    contradictory_ |= !check.Holds(relation.difference.constant(), 0);
    return true;
  });
  for (size_t i = 0; i < relations_.size() && !contradictory_; ++i) {
    const Relation relation = relations_[i];
    const Dim& difference = relation.difference;
    bool changed = false;
    switch (relation.kind) {
      case Kind::kEqual:
        changed = UseEquality(difference) || UseBound(difference) || UseBound(Dim(0) - difference);
        break;
      case Kind::kAtLeast:
        changed = UseBound(difference);
        break;
      case Kind::kNotEqual:
        changed = UseDifference(difference);
        break;
    }
    if (changed) return true;
  }
  return false;
}

bool ConstraintSet::UseEquality(const Dim& zero) {
  int64_t content = ContentOf(zero), constant = ConstantOf(zero);
  if (content > 1 && constant % content != 0) return contradictory_ = true;
  const auto& terms = zero.polynomial()->terms;
  for (const DimTerm& term : terms) {
    llvm::StringRef symbol = SymbolOf(term);
    if (symbol.empty() || CountOf(zero, symbol) != 1) continue;
    if (term.coefficient != 1 && term.coefficient != -1) continue;
    Dim value = Without(zero, term) * Dim(-term.coefficient);
    std::string name = symbol.str();
    auto high = highs_.find(name);
    std::optional<int64_t> most = high == highs_.end() ? std::nullopt : std::optional(high->second);
    if (!value.is_valid()) continue;
    Replace(name, value);
    relations_.push_back({Kind::kAtLeast, value});
    if (most) relations_.push_back({Kind::kAtLeast, Dim(*most) - value});
    return true;
  }
  // c * ((a*S + b) % m) + k == 0
  const DimTerm& first = terms[0];
  if (terms.size() > 2 || (terms.size() == 2 && !terms[1].factors.empty())) return false;
  if (first.factors.size() != 1 || first.factors[0].second != 1) return false;
  const DimAtom& atom = *first.factors[0].first;
  if (atom.kind != DimAtom::Kind::kMod || !atom.b.is_constant() || atom.b.constant() <= 0)
    return false;
  if (first.coefficient == INT64_MIN || constant == INT64_MIN) return false;
  if (constant % first.coefficient != 0) return contradictory_ = true;
  int64_t rest = -constant / first.coefficient, modulus = atom.b.constant();
  if (rest < 0 || rest >= modulus) return contradictory_ = true;
  const auto& inner = atom.a.polynomial()->terms;
  if (inner.size() > 2 || (inner.size() == 2 && !inner[1].factors.empty())) return false;
  std::string symbol = SymbolOf(inner[0]).str();
  if (symbol.empty()) return false;
  int64_t period = 1;
  int64_t offset = ConstantOf(atom.a) % modulus;
  std::optional<int64_t> start =
      SolveCongruence(inner[0].coefficient % modulus, rest - offset, modulus, &period);
  if (!start) return contradictory_ = true;
  auto high = highs_.find(symbol);
  std::optional<int64_t> most = high == highs_.end() ? std::nullopt : std::optional(high->second);
  Dim value = Dim::Symbol(symbol + "'") * Dim(period) + Dim(*start);
  Replace(symbol, value);
  if (most) relations_.push_back({Kind::kAtLeast, Dim(*most) - value});
  return true;
}

bool ConstraintSet::UseBound(const Dim& at_least) {
  if (at_least.is_constant() || !at_least.is_valid()) return false;
  for (const DimTerm& term : at_least.polynomial()->terms) {
    if (term.factors.size() != 1 || term.factors[0].second != 1) continue;
    const DimAtom& atom = *term.factors[0].first;
    Dim rest = Without(at_least, term);
    // min(a, b) >= c implies it for both operands, as does c >= max(a, b).
    bool both = (atom.kind == DimAtom::Kind::kMin && term.coefficient > 0) ||
                (atom.kind == DimAtom::Kind::kMax && term.coefficient < 0);
    if (both) {
      bool changed = false;
      for (const Dim* side : {&atom.a, &atom.b}) {
        Dim bound = *side * Dim(term.coefficient) + rest;
        auto is_same = [&](const Relation& known) {
          return known.kind == Kind::kAtLeast && known.difference == bound;
        };
        if (!bound.is_valid() || llvm::any_of(relations_, is_same)) continue;
        if (BoundsOf(bound).low.value_or(-1) >= 0) continue;
        relations_.push_back({Kind::kAtLeast, bound});
        changed = true;
      }
      if (changed) return true;
    }
    std::string symbol = SymbolOf(term).str();
    if (symbol.empty() || CountOf(at_least, symbol) != 1 || term.coefficient == INT64_MIN) continue;
    std::optional<int64_t> most = BoundsOf(rest).high;
    if (!most) continue;
    if (term.coefficient > 0) {
      // S >= -rest / c, rounded up.
      int64_t low = -FloorDivide(*most, term.coefficient);
      if (low <= 0) continue;
      auto high = highs_.find(symbol);
      std::optional<int64_t> left;
      if (high != highs_.end()) left = high->second - low;
      if (left && *left < 0) return contradictory_ = true;
      Replace(symbol, Dim::Symbol(symbol + "'") + Dim(low));
      if (left) highs_[symbol + "'"] = *left;
      return true;
    }
    int64_t high = FloorDivide(*most, -term.coefficient);
    if (high < 0) return contradictory_ = true;
    auto known = highs_.find(symbol);
    if (known != highs_.end() && known->second <= high) continue;
    if (high == 0) {
      Replace(symbol, 0);
    } else {
      highs_[symbol] = high;
    }
    return true;
  }
  return false;
}

bool ConstraintSet::UseDifference(const Dim& not_zero) {
  const auto& terms = not_zero.polynomial()->terms;
  if (terms.size() > 2 || (terms.size() == 2 && !terms[1].factors.empty())) return false;
  std::string symbol = SymbolOf(terms[0]).str();
  if (symbol.empty() || terms[0].coefficient == INT64_MIN) return false;
  int64_t constant = ConstantOf(not_zero);
  if (constant == INT64_MIN || constant % terms[0].coefficient != 0) return false;
  int64_t other = -constant / terms[0].coefficient;
  if (other == 0) return UseBound(Dim::Symbol(symbol) - Dim(1));
  auto high = highs_.find(symbol);
  if (high == highs_.end() || high->second != other) return false;
  if (--high->second == 0) Replace(symbol, 0);
  return true;
}

// --- Decisions -----------------------------------------------------------------------------------

ConstraintSet::Interval ConstraintSet::TightBoundsOf(const Dim& dim) const {
  Interval bounds = BoundsOf(dim);
  auto at_least = [&](const Dim& known) {  // known >= 0
    // Find multiples of `known` that cancel a term of the sum.
    llvm::SmallVector<int64_t, 4> factors = {1};
    for (const DimTerm& term : DimPolynomial::Terms(dim)) {
      for (const DimTerm& other : DimPolynomial::Terms(known)) {
        if (term.factors.empty() || other.factors.empty() || term.coefficient == INT64_MIN)
          continue;
        int64_t factor = std::abs(term.coefficient / other.coefficient);
        if (factor > 1 && !llvm::is_contained(factors, factor) && factors.size() < 8)
          factors.push_back(factor);
      }
    }
    for (int64_t factor : factors) {
      Interval below = BoundsOf(dim - known * Dim(factor));
      if (below.low && (!bounds.low || *below.low > *bounds.low)) bounds.low = below.low;
      Interval above = BoundsOf(dim + known * Dim(factor));
      if (above.high && (!bounds.high || *above.high < *bounds.high)) bounds.high = above.high;
    }
  };
  for (const Relation& relation : relations_) {
    if (relation.kind == Kind::kNotEqual) continue;
    at_least(relation.difference);
    if (relation.kind == Kind::kEqual) at_least(Dim(0) - relation.difference);
  }
  return bounds;
}

Truth ConstraintSet::DecideReduced(Kind kind, const Dim& difference) const {
  if (!difference.is_valid()) return Truth::kUnknown;
  Interval bounds = TightBoundsOf(difference);
  if (kind == Kind::kAtLeast) {
    if (bounds.low && *bounds.low >= 0) return Truth::kTrue;
    return bounds.high && *bounds.high < 0 ? Truth::kFalse : Truth::kUnknown;
  }
  bool is_zero = bounds.low && bounds.high && *bounds.low == 0 && *bounds.high == 0;
  bool is_not = (bounds.low && *bounds.low > 0) || (bounds.high && *bounds.high < 0);
  int64_t content = ContentOf(difference);
  is_not |= content > 1 && ConstantOf(difference) % content != 0;
  for (const Relation& relation : relations_) {
    bool same = relation.difference == difference || relation.difference == Dim(0) - difference;
    is_not |= same && relation.kind == Kind::kNotEqual;
  }
  if (!is_zero && !is_not) return Truth::kUnknown;
  return is_zero == (kind == Kind::kEqual) ? Truth::kTrue : Truth::kFalse;
}

/// Case distinction: tries each remainder of a symbol modulo the constants by which `difference`
/// divides it.
Truth ConstraintSet::DecideByRemainders(Kind kind, const Dim& difference) const {
  constexpr int64_t kMaxCases = 64;
  llvm::StringMap<int64_t> divisors;
  ForEachAtom(difference, [&](const DimAtom& atom) {
    bool divides = atom.kind == DimAtom::Kind::kFloorDiv || atom.kind == DimAtom::Kind::kMod;
    if (!divides || !atom.b.is_constant() || atom.b.constant() <= 1) return;
    atom.a.ForEachSymbol([&](llvm::StringRef symbol) {
      int64_t& divisor = divisors.try_emplace(symbol, 1).first->second;
      if (atom.b.constant() <= kMaxCases && divisor <= kMaxCases)
        divisor = std::lcm(divisor, atom.b.constant());
    });
  });
  int64_t cases = 1;
  for (const auto& entry : divisors) {
    if (entry.second > kMaxCases || cases > kMaxCases) return Truth::kUnknown;
    cases *= entry.second;
  }
  if (cases == 1 || cases > kMaxCases) return Truth::kUnknown;
  bool any_true = false, any_false = false;
  for (int64_t number = 0; number < cases; ++number) {
    ConstraintSet with_rests = *this;
    int64_t left = number;
    llvm::StringMap<Dim> values;
    for (const auto& entry : divisors) {
      int64_t rest = left % entry.second;
      left /= entry.second;
      auto high = highs_.find(entry.first());
      Dim value = Dim::Symbol((entry.first() + "'").str()) * Dim(entry.second) + Dim(rest);
      std::optional<int64_t> most;
      if (high != highs_.end()) most = FloorDivide(high->second - rest, entry.second);
      if (most && *most < 0) {
        with_rests.contradictory_ = true;  // no size has this remainder
        break;
      }
      with_rests.Replace(entry.first(), value);
      if (most) with_rests.highs_[(entry.first() + "'").str()] = *most;
      values[entry.first()] = value;
    }
    if (with_rests.contradictory_) continue;
    Dim reduced = difference.Substitute([&](llvm::StringRef symbol) -> std::optional<Dim> {
      auto found = values.find(symbol);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    });
    switch (with_rests.DecideReduced(kind, reduced)) {
      case Truth::kTrue:
        any_true = true;
        break;
      case Truth::kFalse:
        any_false = true;
        break;
      case Truth::kUnknown:
        return Truth::kUnknown;
    }
  }
  if (any_true == any_false) return Truth::kUnknown;
  return any_true ? Truth::kTrue : Truth::kFalse;
}

Truth ConstraintSet::DecideByBounds(const DimCheck& check) const {
  const Truth plain = pdl::Decide(check);
  if (plain != Truth::kUnknown || contradictory_) return plain;
  return DecideReduced(check.relation, Reduce(check.left - check.right));
}

Truth ConstraintSet::Decide(const DimCheck& check) const {
  Truth truth = DecideByBounds(check);
  if (truth != Truth::kUnknown || contradictory_) return truth;
  const Dim difference = Reduce(check.left - check.right);
  if (!difference.is_valid()) return Truth::kUnknown;
  truth = DecideByCases(check.relation, difference);
  if (truth == Truth::kUnknown) truth = DecideByRemainders(check.relation, difference);
  return truth;
}

}  // namespace pdl
