#include "gtest/gtest.h"
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

}  // namespace
}  // namespace pdl
