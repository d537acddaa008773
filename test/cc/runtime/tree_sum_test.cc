#include "runtime/distributed/tree_sum.h"

#include <cmath>
#include <functional>
#include <limits>

#include "runtime/distributed/sum_queue.h"
#include "test/cc/testing/runtime_testing.h"
#include "test/cc/testing/thread_communicator.h"

namespace pdl {
namespace {

/// Numbers of very different sizes, whose sum depends on the order of the additions.
TreeValues LeafOf(int64_t leaf) {
  TreeValues values;
  for (int i = 0; i < 7; ++i)
    values.f32.push_back(std::sin(static_cast<float>(leaf * 7 + i)) *
                         std::pow(10.0f, static_cast<float>((leaf * 5 + i) % 9)));
  for (int i = 0; i < 3; ++i) values.f64.push_back(std::cos(static_cast<double>(leaf * 3 + i)));
  return values;
}

/// The definition: the sum of the leaves from `first` below a node of that level.
float Definition(int64_t first, int level, int64_t leaves) {
  if (level == 0) return LeafOf(first).f32[0];
  const int64_t middle = first + (int64_t{1} << (level - 1));
  const float left = Definition(first, level - 1, leaves);
  return middle < leaves ? left + Definition(middle, level - 1, leaves) : left;
}

TEST(TreeSum, AddsInTheOrderOfTheTree) {
  for (int64_t leaves = 1; leaves <= 33; ++leaves) {
    TreeSum sum(0);
    for (int64_t leaf = 0; leaf < leaves; ++leaf) sum.AddLeaf(LeafOf(leaf));
    EXPECT_EQ(std::move(sum).Total().f32[0], Definition(0, 6, leaves)) << leaves;
  }
}

TEST(TreeSum, KeepsTheLargestCompleteNodes) {
  using Nodes = std::vector<TreeNode>;
  EXPECT_EQ(NodesOf(0, 0), Nodes());
  EXPECT_EQ(NodesOf(0, 8), (Nodes{{0, 3}}));
  EXPECT_EQ(NodesOf(4, 8), (Nodes{{4, 2}}));
  EXPECT_EQ(NodesOf(3, 8), (Nodes{{3, 0}, {4, 2}}));
  EXPECT_EQ(NodesOf(1, 7), (Nodes{{1, 0}, {2, 1}, {4, 1}, {6, 0}}));
  for (int64_t begin = 0; begin < 12; ++begin) {
    TreeSum sum(begin);
    for (int64_t leaf = begin; leaf < 12; ++leaf) sum.AddLeaf(LeafOf(leaf));
    Nodes kept;
    for (const auto& [node, values] : sum.nodes()) kept.push_back(node);
    EXPECT_EQ(kept, NodesOf(begin, 12)) << begin;
  }
}

TEST(TreeSum, RanksShareLeavesInOrder) {
  EXPECT_EQ(MicroBatchesOf(8, 1, 4).begin, 2);
  EXPECT_EQ(MicroBatchesOf(8, 1, 4).end, 4);
  // The last batch of an epoch may have too few leaves for some ranks.
  EXPECT_EQ(MicroBatchesOf(5, 2, 4).begin, 4);
  EXPECT_EQ(MicroBatchesOf(5, 2, 4).end, 5);
  EXPECT_EQ(MicroBatchesOf(5, 3, 4).begin, MicroBatchesOf(5, 3, 4).end);
}

TEST(TreeSum, HasTheSameBitsForAnyNumberOfRanks) {
  for (const int64_t leaves : {1, 2, 5, 6, 8, 16, 19}) {
    TreeSum alone(0);
    for (int64_t leaf = 0; leaf < leaves; ++leaf) alone.AddLeaf(LeafOf(leaf));
    const TreeValues expected = std::move(alone).Total();
    for (const int ranks : {2, 3, 4, 7}) {
      RunRanks(ranks, [&](Communicator& communicator) {
        const MicroBatchRange range = MicroBatchesOf(leaves, communicator.rank(), ranks);
        TreeSum own(range.begin);
        for (int64_t leaf = range.begin; leaf < range.end; ++leaf) own.AddLeaf(LeafOf(leaf));
        SumNote note{5, 0, communicator.rank() == 1};
        const TreeValues sum =
            Unwrap(SumOverRanks(std::move(own), leaves, {{7, 3}, {}}, communicator, &note));
        EXPECT_EQ(sum.f32, expected.f32) << leaves << " leaves, " << ranks << " ranks";
        EXPECT_EQ(sum.f64, expected.f64);
        EXPECT_EQ(note.stop, 1);
      });
    }
  }
}

TEST(TreeSum, SendsNoMoreThanTheBound) {
  constexpr int64_t kElements = 10'000;
  for (const int ranks : {2, 4}) {
    RunRanks(ranks, [&](Communicator& communicator) {
      TreeSum own(2 * communicator.rank());
      for (int i = 0; i < 2; ++i) own.AddLeaf({std::vector<float>(kElements, 1.0f), {}});
      SumNote note;
      const int64_t before = communicator.bytes_sent();
      const TreeValues sum = Unwrap(
          SumOverRanks(std::move(own), 2 * ranks, {{kElements, 0}, {}}, communicator, &note));
      EXPECT_EQ(sum.f32.back(), 2.0f * static_cast<float>(ranks));
      const int64_t notes = (ranks - 1) * static_cast<int64_t>(sizeof(SumNote));
      EXPECT_EQ(communicator.bytes_sent() - before,
                2 * (ranks - 1) * kElements * 4 / ranks + notes);
    });
  }
}

TEST(TreeSum, RanksGetValuesOfTheirOwn) {
  TreeSum alone(0);
  for (int64_t leaf = 0; leaf < 6; ++leaf) alone.AddLeaf(LeafOf(leaf));
  const TreeValues expected = std::move(alone).Total();
  RunRanks(3, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    TreeSum own(2 * rank);
    for (int64_t leaf = 2 * rank; leaf < 2 * rank + 2; ++leaf) own.AddLeaf(LeafOf(leaf));
    // f32: two common values, none of rank 0, four of rank 1, one of rank 2.
    const SumLayout layout{{2, 1}, {{0, 1}, {4, 0}, {1, 1}}};
    SumNote note;
    const TreeValues sum = Unwrap(SumOverRanks(std::move(own), 6, layout, communicator, &note));
    const auto& [f32, f64] = expected;
    const std::vector<float> f32_of[] = {{f32[0], f32[1]},
                                         {f32[0], f32[1], f32[2], f32[3], f32[4], f32[5]},
                                         {f32[0], f32[1], f32[6]}};
    const std::vector<double> f64_of[] = {{f64[0], f64[1]}, {f64[0]}, {f64[0], f64[2]}};
    EXPECT_EQ(sum.f32, f32_of[rank]);
    EXPECT_EQ(sum.f64, f64_of[rank]);
  });
}

TEST(TreeSum, LongVectorsAreSentInPieces) {
  // Ranks have parts of their own, of different sizes, at the end; that of the last rank has
  // several pieces. Three leaves of two ranks are not equal nodes.
  constexpr size_t kElements = 1'400'001;
  const auto leaf_of = [](int64_t leaf) {
    TreeValues values = LeafOf(leaf);
    for (size_t i = values.f32.size(); i < kElements; ++i)
      values.f32.push_back(values.f32[i % 7] * static_cast<float>(i));
    return values;
  };
  for (const auto& [ranks, leaves] :
       {std::pair(1, 1), {2, 2}, {2, 3}, {2, 8}, {4, 8}, {3, 6}, {3, 9}, {5, 5}, {7, 7}}) {
    SumLayout layout{{kElements, 3}, {}};
    for (int rank = 0; rank < ranks; ++rank) {
      const size_t own = rank + 1 == ranks ? 600'000 : static_cast<size_t>(rank) * 1000;
      layout.own.push_back({own, 0});
      layout.common.f32 -= own;
    }
    TreeSum alone(0);
    for (int64_t leaf = 0; leaf < leaves; ++leaf) alone.AddLeaf(leaf_of(leaf));
    const TreeValues expected = std::move(alone).Total();
    RunRanks(ranks, [&, ranks = ranks, leaves = leaves](Communicator& communicator) {
      const MicroBatchRange range = MicroBatchesOf(leaves, communicator.rank(), ranks);
      TreeSum own(range.begin);
      for (int64_t leaf = range.begin; leaf < range.end; ++leaf) own.AddLeaf(leaf_of(leaf));
      SumNote note;
      const TreeValues sum =
          Unwrap(SumOverRanks(std::move(own), leaves, layout, communicator, &note));
      auto begin = expected.f32.begin() + static_cast<int64_t>(layout.common.f32);
      std::vector<float> f32(expected.f32.begin(), begin);
      for (int rank = 0; rank < communicator.rank(); ++rank)
        begin += static_cast<int64_t>(layout.own[static_cast<size_t>(rank)].f32);
      const size_t count = layout.own[static_cast<size_t>(communicator.rank())].f32;
      f32.insert(f32.end(), begin, begin + static_cast<int64_t>(count));
      EXPECT_EQ(sum.f32 == f32, true) << leaves << " leaves, " << ranks << " ranks";
      EXPECT_EQ(sum.f64, expected.f64);
    });
  }
}

TEST(TreeSum, ALongVectorWhoseRankEnds) {
  RunRanks(
      3,
      [&](Communicator& communicator) {
        TreeSum own(communicator.rank());
        own.AddLeaf({std::vector<float>(2'000'000, 1.0f), {}});
        SumNote note;
        if (communicator.rank() == 2) {
          // It takes part in the first exchanges only.
          for (int i = 0; i < 2; ++i) {
            const std::vector<SentBytes> send(3);
            const std::vector<ReceivedBytes> receive(3);
            llvm::consumeError(communicator.Exchange(send, receive));
          }
          return;
        }
        const std::string message = Message(
            SumOverRanks(std::move(own), 3, {{2'000'000, 0}, {}}, communicator, &note).takeError());
        EXPECT_NE(message.find("rank"), std::string::npos) << message;
        EXPECT_NE(message.find("did not answer within 0.2 s"), std::string::npos) << message;
      },
      0.2);
}

TEST(TreeSum, RanksThatAddOtherValues) {
  RunRanks(2, [&](Communicator& communicator) {
    TreeSum own(communicator.rank());
    own.AddLeaf(LeafOf(communicator.rank()));
    SumNote note{1, static_cast<uint64_t>(communicator.rank())};
    const std::string message =
        Message(SumOverRanks(std::move(own), 2, {{7, 3}, {}}, communicator, &note).takeError());
    EXPECT_EQ(message, communicator.rank() == 0 ? "ranks 1 and 0 add different gradients"
                                                : "ranks 0 and 1 add different gradients");
  });
}

TEST(TreeSum, EmptyVectors) {
  RunRanks(2, [&](Communicator& communicator) {
    TreeSum own(communicator.rank());
    own.AddLeaf({});
    SumNote note;
    EXPECT_TRUE(
        Unwrap(SumOverRanks(std::move(own), 2, {{0, 0}, {}}, communicator, &note)).f32.empty());
  });
}

TEST(TreeSum, NansStay) {
  RunRanks(2, [&](Communicator& communicator) {
    TreeSum own(communicator.rank());
    const float infinity = std::numeric_limits<float>::infinity();
    own.AddLeaf({{communicator.rank() == 0 ? infinity : -infinity, 1.0f}, {}});
    SumNote note;
    const TreeValues sum =
        Unwrap(SumOverRanks(std::move(own), 2, {{2, 0}, {}}, communicator, &note));
    EXPECT_TRUE(std::isnan(sum.f32[0]));
    EXPECT_EQ(sum.f32[1], 2.0f);
  });
}

TEST(TreeSum, ErrorsNameRanks) {
  RunRanks(
      3,
      [&](Communicator& communicator) {
        if (communicator.rank() == 1) return;
        TreeSum own(communicator.rank());
        own.AddLeaf(LeafOf(communicator.rank()));
        SumNote note;
        EXPECT_EQ(
            Message(SumOverRanks(std::move(own), 3, {{7, 3}, {}}, communicator, &note).takeError()),
            "rank 1 did not answer within 0.2 s");
      },
      0.2);
  RunRanks(2, [&](Communicator& communicator) {
    TreeSum own(communicator.rank());
    own.AddLeaf(LeafOf(communicator.rank()));
    SumNote note{communicator.rank() + 4};
    const std::string message =
        Message(SumOverRanks(std::move(own), 2, {{7, 3}, {}}, communicator, &note).takeError());
    EXPECT_EQ(message, communicator.rank() == 0 ? "rank 1 is at step 5, but rank 0 at step 4"
                                                : "rank 0 is at step 4, but rank 1 at step 5");
  });
}

/// The sum of that number of leaves, of which leaf i is LeafOf(i + shift).
TreeValues SumOf(int64_t leaves, int64_t shift) {
  TreeSum sum(0);
  for (int64_t leaf = 0; leaf < leaves; ++leaf) sum.AddLeaf(LeafOf(leaf + shift));
  return std::move(sum).Total();
}

TreeSum PartOf(int64_t leaves, int64_t shift, const Communicator& communicator) {
  const MicroBatchRange range = MicroBatchesOf(leaves, communicator.rank(), communicator.size());
  TreeSum sum(range.begin);
  for (int64_t leaf = range.begin; leaf < range.end; ++leaf) sum.AddLeaf(LeafOf(leaf + shift));
  return sum;
}

TEST(SumQueue, ReturnsAllSumsInOrder) {
  const SumLayout layout{{7, 3}, {}};
  for (const int64_t leaves : {1, 4, 5})
    for (const int count : {1, 2, 5}) {
      RunRanks(3, [&, leaves = leaves, count = count](Communicator& communicator) {
        SumQueue queue(communicator, leaves, {7, 0, communicator.rank() == 2});
        for (int i = 0; i + 1 < count; ++i) queue.Add(PartOf(leaves, 10 * i, communicator), layout);
        const std::vector<TreeValues> sums =
            Unwrap(queue.Finish(PartOf(leaves, 10 * (count - 1), communicator), layout));
        ASSERT_EQ(sums.size(), static_cast<size_t>(count));
        for (int i = 0; i < count; ++i) {
          EXPECT_EQ(sums[static_cast<size_t>(i)].f32, SumOf(leaves, 10 * i).f32);
          EXPECT_EQ(sums[static_cast<size_t>(i)].f64, SumOf(leaves, 10 * i).f64);
        }
        EXPECT_TRUE(queue.stop());
        EXPECT_FALSE(communicator.yields_processor());
      });
    }
}

TEST(SumQueue, ComputesInTheCallersThreadIfTheCommunicatorRequiresIt) {
  const SumLayout layout{{7, 3}, {}};
  RunRanks(
      2,
      [&](Communicator& communicator) {
        SumQueue queue(communicator, 2, {});
        queue.Add(PartOf(2, 0, communicator), layout);
        EXPECT_EQ(communicator.bytes_sent(), 0);
        const std::vector<TreeValues> sums =
            Unwrap(queue.Finish(PartOf(2, 5, communicator), layout));
        ASSERT_EQ(sums.size(), 2u);
        EXPECT_EQ(sums[0].f32, SumOf(2, 0).f32);
        EXPECT_EQ(sums[1].f32, SumOf(2, 5).f32);
      },
      60, /*allows_any_thread=*/false);
}

TEST(SumQueue, ErrorsEndTheStep) {
  const SumLayout layout{{7, 3}, {}};
  RunRanks(
      2,
      [&](Communicator& communicator) {
        if (communicator.rank() == 1) return;
        SumQueue queue(communicator, 2, {});
        for (int i = 0; i < 3; ++i) queue.Add(PartOf(2, 0, communicator), layout);
        EXPECT_EQ(Message(queue.Finish(PartOf(2, 0, communicator), layout).takeError()),
                  "rank 1 did not answer within 0.2 s");
      },
      0.2);
  // The step fails at a rank before the last gradients: its queue is destroyed.
  RunRanks(
      2,
      [&](Communicator& communicator) {
        SumQueue queue(communicator, 2, {});
        for (int i = 0; i < 3; ++i) queue.Add(PartOf(2, 0, communicator), layout);
        if (communicator.rank() == 1) return;
        EXPECT_EQ(Message(queue.Finish(PartOf(2, 0, communicator), layout).takeError()),
                  "rank 1 did not answer within 0.5 s");
      },
      0.5);
}

TEST(Communicator, GathersAndBroadcasts) {
  RunRanks(3, [&](Communicator& communicator) {
    const std::string own(static_cast<size_t>(communicator.rank()) * 2, 'x');
    EXPECT_EQ(Unwrap(communicator.AllGather(own)), (std::vector<std::string>{"", "xx", "xxxx"}));
    std::string text = communicator.rank() == 2 ? "two" : "...";
    EXPECT_EQ(Message(communicator.Broadcast(2, {text.data(), text.size()})), "");
    EXPECT_EQ(text, "two");
    EXPECT_EQ(Message(communicator.Barrier()), "");
  });
}

}  // namespace
}  // namespace pdl
