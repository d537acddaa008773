// Checks of values at run time, and loops that end on a condition.
#include <atomic>
#include <chrono>
#include <thread>

#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

constexpr const char* kCache =
    "input x: f32[T]\n"
    "state cache: f32[4] = zeros()\n"
    "state at: i64[] = zeros()\n"
    "assert at + T <= 4, \"the cache is full\"\n"
    "update cache = write(cache, x, at=at)\n"
    "update at = at + T\n"
    "output total = sum(cache)\n";

TEST(Checks, AFailedAssertionChangesNoState) {
  auto network = MakeNetwork(kCache);
  Scope scope;
  Feed(scope, "x", F32({3}, {1, 2, 3}));
  ASSERT_EQ(Message(RunOnce(*network, scope)), "");
  EXPECT_EQ(Message(RunOnce(*network, scope)),
            "m.pdl:4:8: assert_true: the cache is full [PDL0517]");
  EXPECT_EQ(Printed(scope, "cache"), "[1.0, 2.0, 3.0, 0.0]");
  EXPECT_EQ(Printed(scope, "at"), "3");
  Feed(scope, "x", F32({1}, {4}));
  ASSERT_EQ(Message(RunOnce(*network, scope)), "");
  EXPECT_EQ(Printed(scope, "total"), "10.0");
}

TEST(Checks, FailInTheirOwnThreadsOnly) {
  auto network = MakeNetwork("input x: f32[N]\nassert x > 0\noutput y = tanh(x) + x * x\n");
  CPUContext shared(2);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Scope scope;
      for (int run = 0; run < 50; ++run) {
        const bool fails = (t + run) % 2 == 0;
        Feed(scope, "x", F32({1 + run % 3}, std::vector<float>(1 + run % 3, fails ? -1 : 1)));
        const std::string expected =
            fails ? "m.pdl:2:8: assert_true: 'x > 0' does not hold at [0] [PDL0517]" : "";
        wrong += Message(network->Run(&scope, &shared)) != expected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Checks, AreMadeWithoutFusionAndObserved) {
  NetworkOptions as_written;
  as_written.fuse = as_written.optimize = false;
  auto network = MakeNetwork("input x: f32[N]\nassert x > 0\noutput y = tanh(x)\n", as_written);
  Scope scope;
  Feed(scope, "x", F32({2}, {1, -1}));
  RunOptions checked;
  checked.check_finite = checked.check_indices = true;
  for (const RunOptions& options : {RunOptions(), checked})
    EXPECT_EQ(Message(RunOnce(*network, scope, options)),
              "m.pdl:2:8: assert_true: 'x > 0' does not hold at [1] [PDL0517]");
}

TEST(Checks, OfIndicesInTheBodyOfALoop) {
  auto network = MakeNetwork(
      "layer look(i: i64[], sum: f32[], table: f32[3]) { return sum=sum + gather(table, i) }\n"
      "input i: i64[N]\n"
      "output y = scan(i, init=zeros([]), captured=ones([3]), axis=0, body=look())\n");
  Scope scope;
  Feed(scope, "i", Tensor::FromValues<int64_t>(DType::kI64, {3}, {0, -3, 3}));
  RunOptions checked;
  checked.check_indices = true;
  EXPECT_NE(Message(RunOnce(*network, scope, checked))
                .find("gather: index 3 is outside axis 0 of f32[3]"),
            std::string::npos);
  ASSERT_EQ(Message(RunOnce(*network, scope)), "");
  EXPECT_EQ(Printed(scope, "y"), "nan");
}

// Calls with constant operands are evaluated before a run, unless it may have to report an index.
TEST(Checks, OfConstantIndices) {
  const std::pair<const char*, const char*> kCases[] = {
      {"output y = gather([1.0, 2.0], [1, 2])\n",
       "gather: index 2 at [1] is outside axis 0 of f32[2]"},
      {"param w: f32[2] = ones()\noutput y = gather(w, [-3])\n",
       "gather: index -3 at [0] is outside axis 0 of f32[2]"},
      {"output y = plane_gather([[[1.0, 2.0]]], [[[1, -1]]])\n",
       "plane_gather: index -1 at [0, 0, 1] is outside the planes of f32[1, 1, 2]"},
      {"input x: f32[N, 1, 2]\noutput y = max_unpool(x, [[[1, 3]]], 3)\n",
       "max_unpool: index 3 at [0, 0, 1] is outside the planes of f32[1, 1, 3]"},
  };
  for (const auto& [text, message] : kCases) {
    auto network = MakeNetwork(text);
    Scope scope;
    if (!network->graph().inputs().empty()) Feed(scope, "x", F32({1, 1, 2}, {1, 2}));
    RunOptions checked;
    checked.check_indices = true;
    EXPECT_NE(Message(RunOnce(*network, scope, checked)).find(message), std::string::npos)
        << Message(RunOnce(*network, scope, checked));
    EXPECT_EQ(Message(RunOnce(*network, scope)), "");
  }
}

TEST(WhileLoops, EndOnCancellation) {
  auto network = MakeNetwork(
      "layer forever(more: bool[], i: i64[]) { return more=more, i=i + 1 }\n"
      "input start: i64[]\n"
      "_, i = while_loop(init=[true, start], max_steps=2**62, body=forever())\n"
      "output i\n");
  Scope scope;
  Feed(scope, "start", Tensor::FromValues<int64_t>(DType::kI64, {}, {0}));
  std::atomic<bool> cancel = false;
  RunOptions options;
  options.cancel = &cancel;
  std::thread stop([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel = true;
  });
  EXPECT_NE(Message(RunOnce(*network, scope, options)).find("the run was cancelled"),
            std::string::npos);
  stop.join();
}

TEST(WhileLoops, StackNoMoreThanTheMemoryLimit) {
  auto network = MakeNetwork(
      "layer forever(more: bool[], i: i64[]) { return more=more, i=i + 1, y=i }\n"
      "input start: i64[]\n"
      "output y = while_loop(init=[true, start], max_steps=2**59, body=forever())\n");
  Scope scope;
  Feed(scope, "start", Tensor::FromValues<int64_t>(DType::kI64, {}, {0}));
  EXPECT_NE(Message(RunOnce(*network, scope)), "");
}

TEST(RandomLoops, HaveNewNumbersInEachRunAndTheSameForASeed) {
  const char* text =
      "layer draw(x: f32[], h: f32[]) { return h=h, y=uniform([]) }\n"
      "input x: f32[N]\n"
      "output y = scan(x, init=0.0, axis=0, body=draw())\n";
  auto network = MakeNetwork(text), again = MakeNetwork(text);
  Scope scope, other;
  Feed(scope, "x", F32({3}, {0, 0, 0}));
  Feed(other, "x", F32({3}, {0, 0, 0}));
  ASSERT_EQ(Message(RunOnce(*network, scope)), "");
  const std::string first = Bytes(scope, "y");
  ASSERT_EQ(Message(RunOnce(*network, scope)), "");
  EXPECT_NE(Bytes(scope, "y"), first);
  ASSERT_EQ(Message(RunOnce(*again, other)), "");
  EXPECT_EQ(Bytes(other, "y"), first);
}

}  // namespace
}  // namespace pdl
