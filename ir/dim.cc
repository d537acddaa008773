#include "pdl/op/dim.h"

#include <algorithm>

#include "ir/dim_polynomial.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

/// Polynomials with more terms, atoms that are nested deeper or are larger when expanded, and
/// higher powers become invalid: no network needs them, and untrusted input must not make the
/// algebra explode.
constexpr size_t kMaxTerms = 1024;
constexpr unsigned kMaxDepth = 128;
constexpr size_t kMaxAtoms = 4096;
constexpr unsigned kMaxPower = 256;

int CompareAtoms(const DimAtom& a, const DimAtom& b) {
  if (&a == &b) return 0;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == DimAtom::Kind::kSymbol) return llvm::StringRef(a.symbol).compare(b.symbol);
  if (a.depth != b.depth) return a.depth < b.depth ? -1 : 1;
  if (int c = Dim::Compare(a.a, b.a)) return c;
  return Dim::Compare(a.b, b.b);
}

unsigned Degree(const DimTerm& term) {
  unsigned degree = 0;
  for (const auto& [atom, power] : term.factors) degree += power;
  return degree;
}

/// Orders terms by their factors: higher degree first, then by atoms.
int CompareFactors(const DimTerm& a, const DimTerm& b) {
  if (unsigned da = Degree(a), db = Degree(b); da != db) return da > db ? -1 : 1;
  for (size_t i = 0; i < std::min(a.factors.size(), b.factors.size()); ++i) {
    if (int c = CompareAtoms(*a.factors[i].first, *b.factors[i].first)) return c;
    if (a.factors[i].second != b.factors[i].second)
      return a.factors[i].second > b.factors[i].second ? -1 : 1;
  }
  return static_cast<int>(a.factors.size()) - static_cast<int>(b.factors.size());
}

std::optional<DimTerm> MultiplyTerms(const DimTerm& a, const DimTerm& b) {
  DimTerm result;
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &result.coefficient))
    return std::nullopt;
  auto i = a.factors.begin(), j = b.factors.begin();
  while (i != a.factors.end() || j != b.factors.end()) {
    int c = i == a.factors.end()   ? 1
            : j == b.factors.end() ? -1
                                   : CompareAtoms(*i->first, *j->first);
    if (c < 0) {
      result.factors.push_back(*i++);
    } else if (c > 0) {
      result.factors.push_back(*j++);
    } else {
      if (i->second + j->second > kMaxPower) return std::nullopt;
      result.factors.push_back({i->first, i->second + j->second});
      ++i, ++j;
    }
  }
  return result;
}

/// Returns term / divisor if the factors and the coefficient are divisible; nullopt otherwise.
std::optional<DimTerm> DivideExactly(const DimTerm& term, const DimTerm& divisor) {
  if (divisor.coefficient == 0 || divisor.coefficient == -1) return std::nullopt;
  if (term.coefficient % divisor.coefficient != 0) return std::nullopt;
  DimTerm result;
  result.coefficient = term.coefficient / divisor.coefficient;
  auto j = divisor.factors.begin();
  for (const auto& factor : term.factors) {
    if (j != divisor.factors.end() && CompareAtoms(*factor.first, *j->first) == 0) {
      if (factor.second < j->second) return std::nullopt;
      if (factor.second > j->second)
        result.factors.push_back({factor.first, factor.second - j->second});
      ++j;
    } else {
      result.factors.push_back(factor);
    }
  }
  if (j != divisor.factors.end()) return std::nullopt;
  return result;
}

uint64_t Magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

uint64_t Gcd(uint64_t a, uint64_t b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

uint64_t Content(const llvm::SmallVectorImpl<DimTerm>& terms, uint64_t start = 0) {
  for (const DimTerm& term : terms) start = Gcd(start, Magnitude(term.coefficient));
  return start;
}

Dim ScaleDown(llvm::SmallVector<DimTerm, 1> terms, uint64_t divisor) {
  for (DimTerm& term : terms) term.coefficient /= static_cast<int64_t>(divisor);
  return DimPolynomial::Make(std::move(terms));
}

Dim MakeAtom(DimAtom::Kind kind, const Dim& a, const Dim& b) {
  DimAtom atom;
  atom.kind = kind;
  atom.a = a;
  atom.b = b;
  return DimPolynomial::FromAtom(std::move(atom));
}

bool IsRagged(const Dim& a, const Dim& b) { return a.is_ragged() || b.is_ragged(); }

// --- Intervals: bounds of a Dim's value for symbols >= 0
// ------------------------------------------

using Interval = DimInterval;

Interval BoundsOf(const Dim& dim);

Interval BoundsOfAtom(const DimAtom& atom) {
  switch (atom.kind) {
    case DimAtom::Kind::kSymbol:
      return {0, std::nullopt};
    case DimAtom::Kind::kFloorDiv: {
      Interval a = BoundsOf(atom.a);
      if (!atom.b.is_constant() || atom.b.constant() <= 0) {
        bool positive = a.low && *a.low >= 0 && atom.b.ProvablyAtLeast(0);
        return positive ? Interval{0, a.high} : Interval{};
      }
      int64_t b = atom.b.constant();
      if (a.low) a.low = FloorDivide(*a.low, b);
      if (a.high) a.high = FloorDivide(*a.high, b);
      return a;
    }
    case DimAtom::Kind::kMod: {
      if (!atom.b.ProvablyAtLeast(0)) return {};
      Interval b = BoundsOf(atom.b);
      if (b.high) b.high = *b.high - 1;
      return {0, b.high};
    }
    case DimAtom::Kind::kMin: {
      Interval a = BoundsOf(atom.a), b = BoundsOf(atom.b), r;
      if (a.low && b.low) r.low = std::min(*a.low, *b.low);
      r.high = a.high && b.high ? std::min(*a.high, *b.high) : a.high ? a.high : b.high;
      return r;
    }
    case DimAtom::Kind::kMax: {
      Interval a = BoundsOf(atom.a), b = BoundsOf(atom.b), r;
      if (a.high && b.high) r.high = std::max(*a.high, *b.high);
      r.low = a.low && b.low ? std::max(*a.low, *b.low) : a.low ? a.low : b.low;
      return r;
    }
  }
  return {};
}

Interval BoundsOfTerm(const DimTerm& term) {
  Interval r{1, 1};
  for (const auto& [atom, power] : term.factors) {
    const Interval& f = atom->bounds;
    if (!f.low || *f.low < 0) return {};
    for (unsigned i = 0; i < power; ++i) {
      r.low = r.low ? Narrow(static_cast<__int128>(*r.low) * *f.low) : std::nullopt;
      if (!r.low) r.low = 0;
      r.high = r.high && f.high ? Narrow(static_cast<__int128>(*r.high) * *f.high) : std::nullopt;
    }
  }
  auto scale = [&](std::optional<int64_t> v) -> std::optional<int64_t> {
    return v ? Narrow(static_cast<__int128>(*v) * term.coefficient) : std::nullopt;
  };
  return term.coefficient > 0 ? Interval{scale(r.low), scale(r.high)}
                              : Interval{scale(r.high), scale(r.low)};
}

Interval BoundsOf(const Dim& dim) {
  if (!dim.is_valid()) return {};
  if (dim.is_constant()) return {Narrow(dim.constant()), Narrow(dim.constant())};
  Interval sum{0, 0};
  for (const DimTerm& term : dim.polynomial()->terms) {
    Interval t = BoundsOfTerm(term);
    sum.low = sum.low && t.low ? Narrow(static_cast<__int128>(*sum.low) + *t.low) : std::nullopt;
    sum.high =
        sum.high && t.high ? Narrow(static_cast<__int128>(*sum.high) + *t.high) : std::nullopt;
  }
  return sum;
}

}  // namespace

// --- Polynomials ---------------------------------------------------------------------------------

Dim DimPolynomial::Make(llvm::SmallVector<DimTerm, 1> terms) {
  if (terms.size() > kMaxTerms) return Dim::Invalid();
  if (terms.size() > 1) {
    std::sort(terms.begin(), terms.end(),
              [](const DimTerm& a, const DimTerm& b) { return CompareFactors(a, b) < 0; });
  }
  auto polynomial = std::make_shared<DimPolynomial>();
  for (DimTerm& term : terms) {
    auto& merged = polynomial->terms;
    if (!merged.empty() && CompareFactors(merged.back(), term) == 0) {
      if (__builtin_add_overflow(merged.back().coefficient, term.coefficient,
                                 &merged.back().coefficient))
        return Dim::Invalid();
    } else {
      if (!merged.empty() && merged.back().coefficient == 0) merged.pop_back();
      merged.push_back(std::move(term));
    }
  }
  auto& merged = polynomial->terms;
  if (!merged.empty() && merged.back().coefficient == 0) merged.pop_back();
  if (merged.empty()) return Dim(0);
  if (merged.size() == 1 && merged[0].factors.empty()) return Dim(merged[0].coefficient);
  return Dim(std::move(polynomial));
}

Dim DimPolynomial::FromAtom(DimAtom atom) {
  for (const Dim* operand : {&atom.a, &atom.b}) {
    if (operand->is_constant()) continue;
    for (const DimTerm& term : operand->polynomial()->terms)
      for (const auto& factor : term.factors) {
        atom.depth = std::max(atom.depth, factor.first->depth + 1);
        atom.size += factor.first->size;
      }
  }
  if (atom.kind != DimAtom::Kind::kSymbol) atom.depth = std::max(atom.depth, 1u);
  if (atom.depth > kMaxDepth || atom.size > kMaxAtoms) return Dim::Invalid();
  atom.bounds = BoundsOfAtom(atom);
  DimTerm term;
  term.coefficient = 1;
  term.factors.push_back({std::make_shared<const DimAtom>(std::move(atom)), 1});
  llvm::SmallVector<DimTerm, 1> terms;
  terms.push_back(std::move(term));
  return Make(std::move(terms));
}

llvm::SmallVector<DimTerm, 1> DimPolynomial::Terms(const Dim& dim) {
  if (!dim.is_constant()) return dim.polynomial()->terms;
  llvm::SmallVector<DimTerm, 1> terms;
  if (dim.constant() != 0) {
    terms.emplace_back();
    terms.back().coefficient = dim.constant();
  }
  return terms;
}

Dim Dim::Symbol(llvm::StringRef name) {
  DimAtom atom;
  atom.symbol = name.str();
  return DimPolynomial::FromAtom(std::move(atom));
}

Dim Dim::Invalid() {
  static const auto& invalid = *[] {
    auto polynomial = std::make_shared<DimPolynomial>();
    polynomial->invalid = true;
    return new std::shared_ptr<const DimPolynomial>(std::move(polynomial));
  }();
  return Dim(invalid);
}

bool Dim::is_valid() const { return is_constant() || !polynomial_->invalid; }

llvm::StringRef Dim::symbol() const {
  if (is_constant() || polynomial_->terms.size() != 1) return {};
  const DimTerm& term = polynomial_->terms[0];
  if (term.coefficient != 1 || term.factors.size() != 1 || term.factors[0].second != 1) return {};
  return term.factors[0].first->symbol;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) {
    int64_t sum;
    return __builtin_add_overflow(a.constant(), b.constant(), &sum) ? Dim::Invalid() : Dim(sum);
  }
  if (!a.is_valid() || !b.is_valid()) return Dim::Invalid();
  if (a.is_constant(0)) return b;
  if (b.is_constant(0)) return a;
  if (IsRagged(a, b)) return Dim::Invalid();
  auto terms = DimPolynomial::Terms(a);
  auto more = DimPolynomial::Terms(b);
  terms.append(more.begin(), more.end());
  return DimPolynomial::Make(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) {
    int64_t product;
    return __builtin_mul_overflow(a.constant(), b.constant(), &product) ? Dim::Invalid()
                                                                        : Dim(product);
  }
  if (!a.is_valid() || !b.is_valid()) return Dim::Invalid();
  if (a.is_constant(1)) return b;
  if (b.is_constant(1)) return a;
  if (IsRagged(a, b)) return Dim::Invalid();
  auto left = DimPolynomial::Terms(a), right = DimPolynomial::Terms(b);
  if (left.size() * right.size() > kMaxTerms) return Dim::Invalid();
  llvm::SmallVector<DimTerm, 1> terms;
  for (const DimTerm& x : left) {
    for (const DimTerm& y : right) {
      std::optional<DimTerm> product = MultiplyTerms(x, y);
      if (!product) return Dim::Invalid();
      terms.push_back(std::move(*product));
    }
  }
  return DimPolynomial::Make(std::move(terms));
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (!a.is_valid() || !b.is_valid() || b.is_constant(0) || IsRagged(a, b)) return Invalid();
  if (b.is_constant(1) || a.is_constant(0)) return a;
  if (b.is_constant() && b.constant() < 0) {
    if (b.constant() == INT64_MIN) return Invalid();
    return FloorDiv(Dim(0) - a, -b.constant());
  }
  if (a.is_constant() && b.is_constant()) return FloorDivide(a.constant(), b.constant());
  if (a == b) return 1;

  // Terms divisible by the divisor are moved out: (q*b + r) // b == q + r // b.
  llvm::SmallVector<DimTerm, 1> outside, rest;
  auto divisor = DimPolynomial::Terms(b);
  for (DimTerm& term : DimPolynomial::Terms(a)) {
    std::optional<DimTerm> quotient;
    if (divisor.size() == 1) quotient = DivideExactly(term, divisor[0]);
    if (quotient) {
      outside.push_back(std::move(*quotient));
    } else if (term.factors.empty() && b.is_constant()) {
      DimTerm whole;
      whole.coefficient = FloorDivide(term.coefficient, b.constant());
      term.coefficient = FloorModulo(term.coefficient, b.constant());
      if (whole.coefficient != 0) outside.push_back(std::move(whole));
      rest.push_back(std::move(term));
    } else {
      rest.push_back(std::move(term));
    }
  }
  Dim sum = DimPolynomial::Make(std::move(outside));
  if (rest.empty()) return sum;
  // Common integer factors cancel.
  uint64_t content = Content(divisor, Content(rest));
  if (content > 1) return sum + FloorDiv(ScaleDown(rest, content), ScaleDown(divisor, content));
  Dim remainder = DimPolynomial::Make(std::move(rest));
  if (remainder.is_constant() && b.is_constant())
    return sum + FloorDivide(remainder.constant(), b.constant());
  if (b.is_constant()) {
    int64_t c = b.constant();
    if (remainder.ProvablyAtLeast(0) && remainder.ProvablyAtMost(c - 1)) return sum;
    // (x // d + k) // c == (x + k*d) // (c*d)
    const auto& terms = remainder.polynomial()->terms;
    const DimTerm& first = terms[0];
    bool plus_constant = terms.size() == 1 || (terms.size() == 2 && terms[1].factors.empty());
    if (plus_constant && first.coefficient == 1 && first.factors.size() == 1 &&
        first.factors[0].second == 1) {
      const DimAtom& atom = *first.factors[0].first;
      if (atom.kind == DimAtom::Kind::kFloorDiv && atom.b.is_constant() && atom.b.constant() > 0) {
        Dim k = terms.size() == 2 ? Dim(terms[1].coefficient) : Dim(0);
        return sum + FloorDiv(atom.a + k * atom.b, atom.b * b);
      }
    }
  }
  return sum + MakeAtom(DimAtom::Kind::kFloorDiv, remainder, b);
}

Dim Dim::Mod(const Dim& a, const Dim& b) {
  if (!a.is_valid() || !b.is_valid() || b.is_constant(0) || IsRagged(a, b)) return Invalid();
  if (b.is_constant(1) || a.is_constant(0) || a == b) return 0;
  if (b.is_constant() && b.constant() < 0) {
    if (b.constant() == INT64_MIN) return Invalid();
    return Dim(0) - Mod(Dim(0) - a, -b.constant());
  }
  if (a.is_constant() && b.is_constant()) return FloorModulo(a.constant(), b.constant());
  llvm::SmallVector<DimTerm, 1> rest;
  auto divisor = DimPolynomial::Terms(b);
  for (DimTerm& term : DimPolynomial::Terms(a)) {
    if (divisor.size() == 1 && DivideExactly(term, divisor[0])) continue;
    if (term.factors.empty() && b.is_constant())
      term.coefficient = FloorModulo(term.coefficient, b.constant());
    rest.push_back(std::move(term));
  }
  if (rest.empty()) return 0;
  uint64_t content = Content(divisor, Content(rest));
  if (content > 1)
    return Dim(static_cast<int64_t>(content)) *
           Mod(ScaleDown(rest, content), ScaleDown(divisor, content));
  Dim remainder = DimPolynomial::Make(std::move(rest));
  if (remainder.is_constant() && b.is_constant()) return Mod(remainder, b);
  if (remainder.ProvablyAtLeast(0) && (b - remainder).ProvablyAtLeast(1)) return remainder;
  return MakeAtom(DimAtom::Kind::kMod, remainder, b);
}

Dim Dim::Min(const Dim& a, const Dim& b) {
  Dim difference = a - b;
  if (!difference.is_valid()) return Invalid();
  if (difference.ProvablyAtMost(0)) return a;
  if (difference.ProvablyAtLeast(0)) return b;
  return Compare(a, b) < 0 ? MakeAtom(DimAtom::Kind::kMin, a, b)
                           : MakeAtom(DimAtom::Kind::kMin, b, a);
}

Dim Dim::Max(const Dim& a, const Dim& b) {
  Dim difference = a - b;
  if (!difference.is_valid()) return Invalid();
  if (difference.ProvablyAtLeast(0)) return a;
  if (difference.ProvablyAtMost(0)) return b;
  return Compare(a, b) < 0 ? MakeAtom(DimAtom::Kind::kMax, a, b)
                           : MakeAtom(DimAtom::Kind::kMax, b, a);
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() == b.constant();
  return a.polynomial() == b.polynomial() || Dim::Compare(a, b) == 0;
}

int Dim::Compare(const Dim& a, const Dim& b) {
  if (a.is_constant() != b.is_constant()) return a.is_constant() ? -1 : 1;
  if (a.is_constant()) return a.constant_ < b.constant_ ? -1 : a.constant_ > b.constant_;
  if (a.polynomial_ == b.polynomial_) return 0;
  if (a.is_valid() != b.is_valid()) return a.is_valid() ? -1 : 1;
  const auto &x = a.polynomial_->terms, &y = b.polynomial_->terms;
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (int c = CompareFactors(x[i], y[i])) return c;
    if (x[i].coefficient != y[i].coefficient) return x[i].coefficient < y[i].coefficient ? -1 : 1;
  }
  return 0;
}

size_t Dim::Hash() const {
  if (is_constant()) return llvm::hash_value(constant_);
  llvm::hash_code hash = llvm::hash_value(polynomial_->terms.size());
  for (const DimTerm& term : polynomial_->terms) {
    hash = llvm::hash_combine(hash, term.coefficient);
    for (const auto& [atom, power] : term.factors)
      hash = llvm::hash_combine(hash, atom->kind, llvm::StringRef(atom->symbol), atom->a.Hash(),
                                atom->b.Hash(), power);
  }
  return hash;
}

bool Dim::ProvablyAtLeast(int64_t bound) const {
  if (is_constant()) return constant_ >= bound;
  std::optional<int64_t> low = BoundsOf(*this).low;
  return low && *low >= bound;
}

bool Dim::ProvablyAtMost(int64_t bound) const {
  if (is_constant()) return constant_ <= bound;
  std::optional<int64_t> high = BoundsOf(*this).high;
  return high && *high <= bound;
}

llvm::Expected<std::optional<std::pair<std::string, int64_t>>> Dim::Solve(int64_t size) const {
  std::optional<std::pair<std::string, int64_t>> none;
  if (is_constant() || !is_valid()) return none;
  const auto& terms = polynomial_->terms;
  if (terms.size() > 2 || (terms.size() == 2 && !terms[1].factors.empty())) return none;
  const DimTerm& term = terms[0];
  if (term.factors.size() != 1 || term.factors[0].second != 1 ||
      term.factors[0].first->kind != DimAtom::Kind::kSymbol)
    return none;
  int64_t difference;
  int64_t offset = terms.size() == 2 ? terms[1].coefficient : 0;
  bool fits = !__builtin_sub_overflow(size, offset, &difference) &&
              difference % term.coefficient == 0 && difference / term.coefficient >= 0;
  if (!fits)
    return llvm::createStringError(llvm::formatv("no {0} makes {1} equal to {2}",
                                                 term.factors[0].first->symbol, ToString(), size)
                                       .str());
  return std::optional(std::pair(term.factors[0].first->symbol, difference / term.coefficient));
}

}  // namespace pdl
