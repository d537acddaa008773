#include "tools/pdl/bench/statistics.h"

#include <random>

#include "gtest/gtest.h"

namespace pdl {
namespace {

TEST(Statistics, Percentiles) {
  EXPECT_EQ(Percentile({3.0}, 0.5), 3);
  EXPECT_EQ(Percentile({1.0, 2.0, 3.0, 4.0}, 0), 1);
  EXPECT_EQ(Percentile({1.0, 2.0, 3.0, 4.0}, 1), 4);
  EXPECT_DOUBLE_EQ(Percentile({1.0, 2.0, 3.0, 4.0}, 0.9), 3.7);
  EXPECT_EQ(Median({5, 1, 4, 2}), 3);
}

TEST(Statistics, BlocksCoverAllValues) {
  EXPECT_EQ(BlockMedians({1.0, 2.0, 3.0, 4.0, 5.0}, 2), (std::vector<double>{1.5, 4}));
  EXPECT_EQ(BlockMedians({2.0, 1.0}, 20), (std::vector<double>{2, 1}));
  EXPECT_TRUE(BlockMedians({}, 20).empty());
}

TEST(Statistics, RankSumTest) {
  // As scipy.stats.mannwhitneyu(a, b, method='asymptotic').
  EXPECT_NEAR(RankSumPValue({1.0, 2.0, 3.0, 4.0, 5.0}, {6.0, 7.0, 8.0, 9.0, 10.0}), 0.0121857804,
              1e-9);
  EXPECT_NEAR(RankSumPValue({1.0, 2.0, 2.0, 3.0}, {2.0, 3.0, 3.0, 4.0, 5.0}), 0.0993422479, 1e-9);
  EXPECT_EQ(RankSumPValue({1.0, 3.0}, {1.0, 3.0}), 1);
  EXPECT_EQ(RankSumPValue({2.0, 2.0}, {2.0, 2.0}), 1);
  EXPECT_EQ(RankSumPValue({}, {1.0}), 1);
}

TEST(Statistics, RankSumTestIsSymmetricAndKeepsItsLevel) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  int significant = 0, detected = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> a, b, c;
    for (int i = 0; i < 20; ++i) {
      a.push_back(normal(random));
      b.push_back(normal(random));
      c.push_back(normal(random) + 2);
    }
    EXPECT_DOUBLE_EQ(RankSumPValue(a, b), RankSumPValue(b, a));
    significant += RankSumPValue(a, b) < 0.01 ? 1 : 0;
    detected += RankSumPValue(a, c) < 0.01 ? 1 : 0;
  }
  EXPECT_LT(significant, 40);  // 20 are expected
  EXPECT_GT(detected, 1950);
}

}  // namespace
}  // namespace pdl
