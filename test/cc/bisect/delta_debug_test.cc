// Delta debugging over artificial failures.
#include "tools/pdl/bisect/delta_debug.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

using Subset = std::vector<size_t>;

/// The result for a failure that `shows` describes, and the number of subsets that were tried.
std::pair<Subset, int> Find(size_t n, llvm::function_ref<bool(llvm::ArrayRef<size_t>)> shows) {
  int tried = 0;
  llvm::Expected<Subset> found = DeltaDebug(n, [&](llvm::ArrayRef<size_t> subset) {
    EXPECT_TRUE(llvm::is_sorted(subset));
    EXPECT_FALSE(subset.empty());
    ++tried;
    return llvm::Expected<bool>(shows(subset));
  });
  if (!found) {
    ADD_FAILURE() << llvm::toString(found.takeError());
    return {};
  }
  return {std::move(*found), tried};
}

TEST(DeltaDebug, FindsOneElementInLogarithmicTime) {
  for (const size_t culprit : {0, 1, 511, 999}) {
    const auto [found, tried] = Find(
        1000, [&](llvm::ArrayRef<size_t> subset) { return llvm::is_contained(subset, culprit); });
    EXPECT_EQ(found, Subset{culprit});
    EXPECT_LE(tried, 20);
  }
}

TEST(DeltaDebug, FindsElementsThatAreOnlyTogetherAFailure) {
  const Subset culprits = {3, 40, 77};
  const auto [found, tried] = Find(100, [&](llvm::ArrayRef<size_t> subset) {
    return llvm::all_of(culprits, [&](size_t one) { return llvm::is_contained(subset, one); });
  });
  EXPECT_EQ(found, culprits);
}

TEST(DeltaDebug, KeepsWhatIsNecessary) {
  EXPECT_EQ(Find(0, [](llvm::ArrayRef<size_t>) { return true; }).first, Subset{});
  EXPECT_EQ(Find(1, [](llvm::ArrayRef<size_t>) { return true; }).first, Subset{0});
  const Subset all = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Find(7, [](llvm::ArrayRef<size_t> subset) { return subset.size() == 7; }).first, all);
}

// Failures that are not monotone: some subsets of a failing one do not fail, for instance because
// they are no valid network.
TEST(DeltaDebug, NoElementOfTheResultCanBeRemoved) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const size_t n = 1 + random() % 30;
    std::vector<Subset> causes(1 + random() % 3);
    for (Subset& cause : causes)
      for (size_t i = 0; i < n; ++i)
        if (random() % 4 == 0) cause.push_back(i);
    const size_t needs = random() % n, needed = random() % n;
    const auto shows = [&](llvm::ArrayRef<size_t> subset) {
      if (llvm::is_contained(subset, needs) && !llvm::is_contained(subset, needed)) return false;
      return llvm::any_of(causes, [&](const Subset& cause) {
        return llvm::all_of(cause, [&](size_t one) { return llvm::is_contained(subset, one); });
      });
    };
    const Subset found = Find(n, shows).first;
    EXPECT_TRUE(shows(found));
    for (size_t i = 0; found.size() > 1 && i < found.size(); ++i) {
      Subset fewer = found;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(shows(fewer)) << "round " << round;
    }
  }
}

TEST(DeltaDebug, AnErrorEndsTheSearch) {
  llvm::Expected<Subset> found = DeltaDebug(9, [](llvm::ArrayRef<size_t>) -> llvm::Expected<bool> {
    return llvm::createStringError("the device is lost");
  });
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(llvm::toString(found.takeError()), "the device is lost");
}

}  // namespace
}  // namespace pdl
