#include "runtime/idle_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pdl {
namespace {

/// Counts the objects that exist.
struct Counted {
  explicit Counted(int* count_in) : count(count_in) { ++*count; }
  ~Counted() { --*count; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int* count;
};

class IdlePoolTest : public testing::Test {
 protected:
  /// `concurrency` runs at the same time.
  void Run(int concurrency) {
    std::vector<std::unique_ptr<Counted>> taken;
    for (int i = 0; i < concurrency; ++i) {
      std::unique_ptr<Counted> object = pool_.Take();
      taken.push_back(object ? std::move(object) : std::make_unique<Counted>(&count_));
    }
    for (std::unique_ptr<Counted>& object : taken) pool_.GiveBack(std::move(object));
  }

  int count_ = 0;
  IdlePool<Counted> pool_;
};

TEST_F(IdlePoolTest, KeepsWhatRunsNeed) {
  EXPECT_EQ(pool_.Take(), nullptr);
  for (int i = 0; i < 1000; ++i) {
    Run(8);
    EXPECT_EQ(count_, 8);
  }
}

TEST_F(IdlePoolTest, TakesTheLastReturned) {
  auto first = std::make_unique<Counted>(&count_), second = std::make_unique<Counted>(&count_);
  Counted* const last = second.get();
  pool_.GiveBack(std::move(first));
  pool_.GiveBack(std::move(second));
  std::unique_ptr<Counted> taken = pool_.Take();
  EXPECT_EQ(taken.get(), last);
}

TEST_F(IdlePoolTest, DestroysWhatNoRunTakes) {
  Run(8);
  for (int i = 0; i < 1000; ++i) Run(2);
  EXPECT_EQ(count_, 2);
  for (int i = 0; i < 1000; ++i) Run(1);
  EXPECT_EQ(count_, 1);
  Run(8);
  EXPECT_EQ(count_, 8);
}

// Rare runs at the same time do not make objects over and over.
TEST_F(IdlePoolTest, KeepsObjectsForAWhile) {
  for (int i = 0; i < 1000; ++i) {
    Run(1);
    if (i % 30 == 0) Run(3);
    EXPECT_EQ(count_, 3);
  }
}

TEST_F(IdlePoolTest, LeavesObjectsThatMayNotBeTaken) {
  Run(3);
  auto none = [](Counted&) { return false; };
  EXPECT_EQ(pool_.Take(none), nullptr);
  EXPECT_EQ(count_, 3);
  int asked = 0;
  std::unique_ptr<Counted> oldest = pool_.Take([&](Counted&) { return ++asked == 3; });
  ASSERT_NE(oldest, nullptr);
  oldest.reset();
  EXPECT_EQ(count_, 2);
}

}  // namespace
}  // namespace pdl
