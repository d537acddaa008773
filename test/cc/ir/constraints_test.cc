#include "pdl/compiler/constraints.h"

#include <functional>
#include <random>

#include "gtest/gtest.h"

namespace pdl {
namespace {

using Kind = DimCheck::Relation;

const Dim N = Dim::Symbol("N"), T = Dim::Symbol("T"), M = Dim::Symbol("M");

DimCheck Equal(const Dim& a, const Dim& b) { return {a, Kind::kEqual, b, ""}; }
DimCheck NotEqual(const Dim& a, const Dim& b) { return {a, Kind::kNotEqual, b, ""}; }
DimCheck AtLeast(const Dim& a, const Dim& b) { return {a, Kind::kAtLeast, b, ""}; }
DimCheck AtMost(const Dim& a, const Dim& b) { return {b, Kind::kAtLeast, a, ""}; }

ConstraintSet Set(std::initializer_list<DimCheck> checks) {
  ConstraintSet set;
  for (const DimCheck& check : checks) set.Add(check);
  return set;
}

std::string Example(const ConstraintSet& set, const DimCheck& check) {
  std::optional<Counterexample> example = set.Refute(check);
  return example ? example->ToString() : "none";
}

TEST(Constraints, Ranges) {
  ConstraintSet set = Set({AtLeast(N, 1), AtMost(N, 256)});
  EXPECT_EQ(set.Decide(AtMost(N, 256)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtMost(N, 300)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtMost(N * 3, 767)), Truth::kUnknown);
  EXPECT_EQ(set.Decide(AtLeast(N, 257)), Truth::kFalse);
  EXPECT_EQ(set.Decide(NotEqual(N, 0)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtLeast(N * N, N)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtLeast(Dim::FloorDiv(N + 3, 4), 1)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtMost(Dim::Max(N, 10), 256)), Truth::kTrue);
  EXPECT_EQ(Example(set, AtMost(N, 128)), "N=129");
  EXPECT_EQ(Example(set, AtMost(N, 256)), "none");
  EXPECT_EQ(Example(set, AtLeast(N, 2)), "N=1");
}

TEST(Constraints, WithoutAny) {
  ConstraintSet set;
  EXPECT_EQ(set.Decide(AtMost(N, 256)), Truth::kUnknown);
  EXPECT_EQ(Example(set, AtMost(N, 256)), "N=257");
  EXPECT_EQ(Example(set, AtMost(N, 1000000)), "N=1000001");
  EXPECT_EQ(Example(set, AtMost(N * 8, 1000000)), "N=125001");
  EXPECT_EQ(Example(set, AtLeast(N, 1)), "N=0");
  EXPECT_EQ(Example(set, Equal(N, 256)), "N=257");
  EXPECT_EQ(Example(set, Equal(Dim::Mod(T, 4), 0)), "T=1");
  EXPECT_EQ(Example(set, Equal(M, N)), "M=2, N=1");
  EXPECT_EQ(set.Decide(Equal(N, N)), Truth::kTrue);
  EXPECT_EQ(set.Decide(Equal(2 * N, 7)), Truth::kFalse);
}

TEST(Constraints, Congruences) {
  ConstraintSet set = Set({Equal(Dim::Mod(T, 4), 0)});
  EXPECT_EQ(set.Decide(Equal(Dim::Mod(2 * T, 8), 0)), Truth::kTrue);
  EXPECT_EQ(set.Decide(Equal(Dim::Mod(T, 2), 0)), Truth::kTrue);
  EXPECT_EQ(set.Decide(Equal(Dim::FloorDiv(T, 4) * 4, T)), Truth::kTrue);
  EXPECT_EQ(set.Decide(Equal(Dim::FloorDiv(T, 2) * 2, T)), Truth::kTrue);
  EXPECT_EQ(set.Decide(Equal(Dim::Mod(T, 8), 0)), Truth::kUnknown);
  EXPECT_EQ(set.Decide(Equal(Dim::Mod(T, 4), 1)), Truth::kFalse);
  EXPECT_EQ(Example(set, Equal(Dim::Mod(T, 8), 0)), "T=4");
  EXPECT_EQ(Example(set, AtMost(T, 256)), "T=260");
  set.Add(Equal(Dim::Mod(T, 6), 2));  // implies T % 12 == 8
  EXPECT_EQ(set.Decide(Equal(Dim::Mod(T, 12), 8)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtLeast(T, 8)), Truth::kTrue);
  EXPECT_EQ(ConstraintSet().Decide(Equal(Dim::Mod(N * N + N, 2), 0)), Truth::kTrue);
}

TEST(Constraints, Equalities) {
  ConstraintSet set = Set({Equal(M, 2 * N), Equal(T, M + 1)});
  EXPECT_EQ(set.Decide(Equal(T, 2 * N + 1)), Truth::kTrue);
  EXPECT_EQ(set.Decide(Equal(Dim::Mod(M, 2), 0)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtLeast(M, N)), Truth::kTrue);
  EXPECT_EQ(Example(set, AtMost(T, 8)), "T=9, M=8, N=4");
  EXPECT_EQ(Set({Equal(3 * N, 12)}).Decide(Equal(N, 4)), Truth::kTrue);
}

TEST(Constraints, SeveralSymbols) {
  ConstraintSet set = Set({AtMost(T, N), AtMost(N, 64)});
  EXPECT_EQ(set.Decide(AtMost(T, 64)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtLeast(2 * N, 2 * T)), Truth::kTrue);
  EXPECT_EQ(set.Decide(AtLeast(N - T + 1, 1)), Truth::kTrue);
  EXPECT_EQ(set.Decide(Equal(T, N)), Truth::kUnknown);
  EXPECT_EQ(Set({AtLeast(Dim::Min(N, T), 3)}).Decide(AtLeast(N + T, 6)), Truth::kTrue);
}

TEST(Constraints, Bounds) {
  ConstraintSet set = Set({AtLeast(N, 1), AtLeast(T, 1)});
  EXPECT_EQ(set.DecideByBounds(Equal(30 * N, 28 * N)), Truth::kFalse);
  EXPECT_EQ(set.DecideByBounds(Equal(30 * N * T, 28 * N * T)), Truth::kFalse);
  EXPECT_EQ(set.DecideByBounds(Equal(30 * N, 28 * T)), Truth::kUnknown);
  EXPECT_EQ(set.DecideByBounds(Equal(30 * N * M, 28 * N * M)), Truth::kUnknown);
  EXPECT_EQ(set.DecideByBounds(AtLeast(N, 1)), Truth::kTrue);
  EXPECT_EQ(set.DecideByBounds(Equal(2 * N, 2 * T + 1)), Truth::kFalse);
  EXPECT_EQ(ConstraintSet().DecideByBounds(Equal(30 * N, 28 * N)), Truth::kUnknown);
  // Distinguishing cases is left to Decide.
  const DimCheck even = Equal(Dim::Mod(N * N + N, 2), 0);
  EXPECT_EQ(set.Decide(even), Truth::kTrue);
  EXPECT_EQ(set.DecideByBounds(even), Truth::kUnknown);
}

TEST(Constraints, Contradictions) {
  ConstraintSet set = Set({AtLeast(N, 5), AtMost(N, 3)});
  EXPECT_EQ(set.Decide(AtMost(N, 4)), Truth::kUnknown);
  EXPECT_EQ(Example(set, AtMost(N, 4)), "none");
}

/// Compares random relations with an exhaustive search up to a bound.
class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  Dim Expression(int depth) {
    const Dim symbols[] = {N, T, M};
    switch (depth == 0 ? Below(3) : Below(9)) {
      case 0:
        return Below(9) - 2;
      case 1:
      case 2:
        return symbols[Below(3)];
      case 3:
        return Expression(depth - 1) + Expression(depth - 1);
      case 4:
        return Expression(depth - 1) * (Below(7) - 3);
      case 5:
        return Dim::FloorDiv(Expression(depth - 1), Below(6) + 1);
      case 6:
        return Dim::Mod(Expression(depth - 1), Below(6) + 1);
      case 7:
        return Dim::Min(Expression(depth - 1), Expression(depth - 1));
      default:
        return Below(2) ? Dim::Max(Expression(depth - 1), Expression(depth - 1))
                        : Expression(depth - 1) * Expression(depth - 1);
    }
  }
  DimCheck Check(int depth) {
    return {Expression(depth), static_cast<Kind>(1 + Below(3)), Expression(depth - 1), ""};
  }

 private:
  std::mt19937 random_;
};

TEST(Constraints, AgreeWithBruteForce) {
  constexpr int64_t kMost = 12;
  int certain = 0, refuted = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    std::vector<DimCheck> known;
    for (int64_t i = random.Below(4); i > 0; --i) known.push_back(random.Check(1));
    DimCheck check = random.Check(2);
    ConstraintSet set;
    for (const DimCheck& one : known) set.Add(one);
    Truth truth = set.Decide(check);
    std::optional<Counterexample> example = set.Refute(check);

    int64_t n, t, m;
    auto holds = [&](const DimCheck& one) -> std::optional<bool> {
      auto lookup = [&](llvm::StringRef s) -> std::optional<int64_t> {
        return s == "N" ? n : s == "T" ? t : m;
      };
      auto left = one.left.Evaluate(lookup), right = one.right.Evaluate(lookup);
      if (left && right) return one.Holds(*left, *right);
      llvm::consumeError(left.takeError());
      llvm::consumeError(right.takeError());
      return std::nullopt;
    };
    auto keeps = [&] {
      return llvm::all_of(known, [&](const DimCheck& one) { return holds(one).value_or(false); });
    };
    std::string trace;
    for (const DimCheck& one : known)
      trace += one.left.ToString() + " " + std::to_string(static_cast<int>(one.relation)) + " " +
               one.right.ToString() + "; ";
    trace += "? " + check.left.ToString() + " " + std::to_string(static_cast<int>(check.relation)) +
             " " + check.right.ToString();
    SCOPED_TRACE(trace);
    bool any = false;
    for (n = 0; n <= kMost; ++n) {
      for (t = 0; t <= kMost; ++t) {
        for (m = 0; m <= kMost; ++m) {
          if (!keeps()) continue;
          any = true;
          std::optional<bool> here = holds(check);
          if (truth == Truth::kUnknown || !here) continue;
          ASSERT_EQ(*here, truth == Truth::kTrue) << "N=" << n << " T=" << t << " M=" << m;
        }
      }
    }
    certain += any && truth != Truth::kUnknown;
    ASSERT_FALSE(truth == Truth::kTrue && any && example) << example->ToString();
    if (!example) continue;
    ++refuted;
    n = t = m = 0;
    for (const auto& [symbol, size] : example->sizes)
      (symbol == "N" ? n : symbol == "T" ? t : m) = size;
    ASSERT_EQ(holds(check), std::optional(false)) << example->ToString();
    for (const DimCheck& one : known) {
      bool named = true;
      for (const Dim* side : {&one.left, &one.right})
        side->ForEachSymbol([&](llvm::StringRef s) {
          named &= llvm::any_of(example->sizes, [&](const auto& e) { return e.first == s; });
        });
      ASSERT_TRUE(!named || holds(one) == std::optional(true)) << example->ToString();
    }
  }
  EXPECT_GT(certain, 300);
  EXPECT_GT(refuted, 300);
}

}  // namespace
}  // namespace pdl
