#include <random>

#include "gtest/gtest.h"
#include "ir/dim_program.h"
#include "pdl/op/dim.h"

namespace pdl {
namespace {

// Operands are shared in memory; no traversal may visit an operand once for each use.

TEST(DimLimits, ExpressionsThatDoubleEndAsInvalid) {
  Dim dim = Dim::Symbol("N");
  for (int i = 0; i < 60; ++i) dim = dim + Dim::FloorDiv(dim, 3);
  EXPECT_FALSE(dim.is_valid());
  dim = Dim::Symbol("N");
  for (int i = 0; i < 60; ++i) dim = Dim::Min(Dim(2) * dim, Dim::FloorDiv(dim, 3) + Dim(5));
  EXPECT_FALSE(dim.is_valid());
}

TEST(DimLimits, NestingCostsNoMoreThanItsLength) {
  Dim dim = Dim::Symbol("N") + Dim(1);
  for (int i = 0; i < 100; ++i) dim = Dim::Mod(Dim::Symbol("M"), dim + Dim(1));
  EXPECT_TRUE(dim.is_valid());
  EXPECT_TRUE(dim.ProvablyAtLeast(0));
}

TEST(DimLimits, PowersEndAsInvalid) {
  Dim dim = Dim::Symbol("N");
  for (int i = 0; i < 8; ++i) dim = dim * dim;
  EXPECT_TRUE(dim.is_valid());
  for (int i = 0; i < 60; ++i) dim = dim * dim;
  EXPECT_FALSE(dim.is_valid());
}

// The multiple of the divisor below a number near INT64_MIN does not fit in 64 bits; sanitizer
// builds find it computed.
TEST(DimLimits, RemaindersOfTheLowestNumbers) {
  EXPECT_EQ(Dim::Mod(Dim(INT64_MIN), 12), Dim(4));
  EXPECT_EQ(Dim::Mod(Dim(INT64_MIN + 1), 12), Dim(5));
  EXPECT_FALSE(Dim::Mod(Dim(INT64_MIN), -12).is_valid());
  const Dim n = Dim::Symbol("N");
  EXPECT_EQ(Dim::Mod(n + Dim(INT64_MIN), 12), Dim::Mod(n + Dim(4), 12));
  EXPECT_EQ(Dim::FloorDiv(n + Dim(INT64_MIN), 12),
            Dim::FloorDiv(n + Dim(4), 12) + Dim(INT64_MIN / 12 - 1));
}

/// A random expression of the symbols A, B and C.
Dim RandomDim(std::mt19937& random, int depth) {
  if (depth == 0 || random() % 4 == 0) {
    if (random() % 3 == 0) return Dim(static_cast<int64_t>(random() % 9) - 4);
    if (random() % 40 == 0) return Dim(INT64_MAX - static_cast<int64_t>(random() % 3));
    if (random() % 40 == 0) return Dim(INT64_MIN + static_cast<int64_t>(random() % 3));
    return Dim::Symbol(std::string(1, static_cast<char>('A' + random() % 3)));
  }
  const Dim a = RandomDim(random, depth - 1), b = RandomDim(random, depth - 1);
  switch (random() % 7) {
    case 0:
      return a - b;
    case 1:
      return a * b;
    case 2:
      return Dim::FloorDiv(a, b);
    case 3:
      return Dim::Mod(a, b);
    case 4:
      return Dim::Min(a, b);
    case 5:
      return Dim::Max(a, b);
    default:
      return a + b;
  }
}

TEST(DimProgram, HasTheValuesOfEvaluate) {
  std::mt19937 random(7);
  const std::string symbols = "AB";  // C has no size
  const auto index_of = [&](llvm::StringRef symbol) {
    return static_cast<int>(llvm::StringRef(symbols).find(symbol));
  };
  int values = 0, errors = 0;
  for (int i = 0; i < 5000; ++i) {
    const Dim dim = RandomDim(random, 4);
    const DimProgram program(dim, index_of);
    for (int j = 0; j < 6; ++j) {
      int64_t sizes[2];
      for (int64_t& size : sizes)
        size = random() % 8 == 0 ? INT64_MAX - static_cast<int64_t>(random() % 4)
                                 : static_cast<int64_t>(random() % 7) - 2;
      llvm::Expected<int64_t> expected =
          dim.Evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
            const int index = index_of(symbol);
            return index < 0 ? std::nullopt : std::optional(sizes[index]);
          });
      const std::optional<int64_t> value = program.Evaluate(sizes);
      ASSERT_EQ(value.has_value(), !!expected) << dim.ToString();
      if (expected) {
        ++values;
        ASSERT_EQ(*value, *expected) << dim.ToString() << " of " << sizes[0] << ", " << sizes[1];
      } else {
        ++errors;
        llvm::consumeError(expected.takeError());
      }
    }
  }
  EXPECT_GT(values, 5000);
  EXPECT_GT(errors, 2000);
}

}  // namespace
}  // namespace pdl
