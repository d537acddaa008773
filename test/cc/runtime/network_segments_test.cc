// Networks with data-dependent sizes, which are cut into segments.
#include <atomic>
#include <thread>

#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

const char* const kChain =
    "input x: f32[N]\n"
    "state runs: i64[] = zeros()\n"
    "state total: f32[] = zeros()\n"
    "taken = gather(x, nonzero(x)[:, 0])\n"
    "values, inverse, counts = unique(taken)\n"
    "noise = taken + normal(dims(taken))\n"
    "update runs = runs + 1\n"
    "update total = total + sum(values)\n"
    "output taken, values, noise\n";

TEST(NetworkSegments, ThreadsShareOneNetwork) {
  std::shared_ptr<const Network> network = MakeNetwork(kChain);
  ASSERT_NE(network, nullptr);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Scope scope;
      CPUContext context(2);
      for (int run = 0; run < 50; ++run) {
        const int n = (run * 7 + t) % 40;
        std::vector<float> x;
        std::vector<float> kept;
        for (int i = 0; i < n; ++i) {
          x.push_back(static_cast<float>((i * 5 + run) % 4));
          if (x.back() != 0) kept.push_back(x.back());
        }
        Feed(scope, "x", F32({n}, x));
        wrong += Message(network->Run(&scope, &context)) != "";
        const Tensor& taken = *scope.Find("taken")->Get<Tensor>();
        wrong += taken.num_elements() != static_cast<int64_t>(kept.size()) ||
                 !std::equal(kept.begin(), kept.end(), taken.data<float>());
        wrong += *scope.Find("runs")->Get<Tensor>()->data<int64_t>() != run + 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(NetworkSegments, AFailureBehindTheCutChangesNothing) {
  std::shared_ptr<const Network> network = MakeNetwork(
      "input x: f32[N]\n"
      "input y: f32[M]\n"
      "state runs: i64[] = zeros()\n"
      "taken = gather(x, nonzero(x)[:, 0])\n"
      "update runs = runs + 1\n"
      "output early = sum(x)\n"
      "output both = taken + y\n");
  ASSERT_NE(network, nullptr);
  CPUContext context(1);
  Scope scope;
  Feed(scope, "x", F32({3}, {1, 0, 2}));
  Feed(scope, "y", F32({2}, {10, 20}));
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  EXPECT_EQ(Printed(scope, "both"), "[11.0, 22.0]");
  Feed(scope, "y", F32({3}, {10, 20, 30}));
  EXPECT_NE(Message(network->Run(&scope, &context)), "");
  EXPECT_EQ(*scope.Find("runs")->Get<Tensor>()->data<int64_t>(), 1);
  // Only the part before the cut.
  RunOptions options;
  options.outputs = {"early"};
  EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
  EXPECT_EQ(*scope.Find("runs")->Get<Tensor>()->data<int64_t>(), 2);
  options.outputs = {"earlier"};
  EXPECT_EQ(Message(network->Run(&scope, &context, options)),
            "the network has no output 'earlier'; did you mean 'early'? [PDL0102]");
  // A state computed by a failed run is discarded.
  Scope fresh;
  Feed(fresh, "x", F32({1}, {1}));
  Feed(fresh, "y", F32({3}, {10, 20, 30}));
  EXPECT_NE(Message(network->Run(&fresh, &context)), "");
  EXPECT_TRUE(!fresh.Find("runs") || fresh.Find("runs")->empty());
}

TEST(NetworkSegments, AnOutputMayHaveTheNameOfAnInput) {
  std::shared_ptr<const Network> network = MakeNetwork(
      "input x: f32[N]\n"
      "taken = gather(x, nonzero(x)[:, 0])\n"
      "output z = sum(x)\n"
      "output x = sum(taken) + x\n");
  ASSERT_NE(network, nullptr);
  CPUContext context(1);
  Scope scope;
  Feed(scope, "x", F32({3}, {1, 0, 2}));
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  EXPECT_EQ(Printed(scope, "x"), "[4.0, 3.0, 5.0]");
  EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  EXPECT_EQ(Printed(scope, "x"), "[16.0, 15.0, 17.0]");
  EXPECT_EQ(Printed(scope, "z"), "12.0");
}

TEST(NetworkSegments, AnUpdateReadsTheStateThatAnotherSegmentUpdates) {
  std::shared_ptr<const Network> network = MakeNetwork(
      "input x: f32[N]\n"
      "state a: f32[3] = ones()\n"
      "state b: f32[3] = ones()\n"
      "update a = a * 2\n"
      "update b = b + a * sum(gather(x, nonzero(x)[:, 0]))\n");
  ASSERT_NE(network, nullptr);
  CPUContext context(1);
  Scope scope;
  Feed(scope, "x", F32({3}, {1, 0, 2}));
  for (int run = 0; run < 3; ++run) EXPECT_EQ(Message(network->Run(&scope, &context)), "");
  // a: 1 2 4 8; b: 1 4 10 22
  EXPECT_EQ(Printed(scope, "a"), "[8.0, 8.0, 8.0]");
  EXPECT_EQ(Printed(scope, "b"), "[22.0, 22.0, 22.0]");
}

TEST(NetworkSegments, RandomNumbersDoNotDependOnTheCut) {
  const std::string head = "input x: f32[4]\n";
  std::shared_ptr<const Network> cut = MakeNetwork(
      head + "output y = normal([4]) + sum(gather(x, nonzero(x)[:, 0]))\noutput z = y\n");
  std::shared_ptr<const Network> whole = MakeNetwork(head + "output y = normal([4]) + sum(x)\n");
  CPUContext context(1);
  Scope a, b;
  for (int run = 0; run < 3; ++run) {
    for (Scope* scope : {&a, &b}) Feed(*scope, "x", F32({4}, {1, 0, 2, 0}));
    EXPECT_EQ(Message(cut->Run(&a, &context)), "");
    EXPECT_EQ(Message(whole->Run(&b, &context)), "");
    EXPECT_EQ(Printed(a, "y"), Printed(b, "y"));
  }
}

}  // namespace
}  // namespace pdl
