// The work of calls, and profiles and traces of runs.
#include <atomic>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "pdl/compiler/trace.h"
#include "pdl/runtime/profile_report.h"
#include "proto/trace.pb.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

/// The operations and bytes of one run of a network with the output y, whose inputs have these
/// sizes.
CallCost CostOf(const std::string& text,
                std::vector<std::pair<std::string, std::vector<int64_t>>> inputs) {
  std::shared_ptr<const Network> network = MakeNetwork(text);
  Scope scope;
  for (const auto& [name, sizes] : inputs) Feed(scope, name, Noise(sizes));
  CPUContext context(1);
  RunProfile profile;
  RunOptions options;
  options.profile = &profile;
  EXPECT_EQ(Message(network->Run(&scope, &context, options)), "");
  CallCost cost;
  for (const RunProfile::Step& step : profile.steps()) {
    cost.operations += step.cost.operations;
    cost.bytes += step.cost.bytes;
  }
  return cost;
}

TEST(CallCost, Matmul) {
  const CallCost plain = CostOf("input x: f32[5, 7]\ninput w: f32[7, 3]\noutput y = x @ w",
                                {{"x", {5, 7}}, {"w", {7, 3}}});
  EXPECT_EQ(plain.operations, 2 * 5 * 7 * 3);
  EXPECT_EQ(plain.bytes, 4 * (5 * 7 + 7 * 3 + 5 * 3));
  const CallCost transposed =
      CostOf("input x: f32[7, 5]\ninput w: f32[7, 3]\noutput y = matmul(x, w, transpose_a=true)",
             {{"x", {7, 5}}, {"w", {7, 3}}});
  EXPECT_EQ(transposed.operations, plain.operations);
  const CallCost empty = CostOf("input x: f32[N, 7]\ninput w: f32[7, 3]\noutput y = x @ w",
                                {{"x", {0, 7}}, {"w", {7, 3}}});
  EXPECT_EQ(empty.operations, 0);
}

TEST(CallCost, ConvolutionsAndTheirGradients) {
  const std::string inputs = "input x: f32[2, 4, 9, 8]\ninput w: f32[6, 4, 3, 3]\n";
  const double forward = 2.0 * (2 * 6 * 7 * 6) * (4 * 3 * 3);
  EXPECT_EQ(CostOf(inputs + "output y = conv2d(x, w)", {{"x", {2, 4, 9, 8}}, {"w", {6, 4, 3, 3}}})
                .operations,
            forward);
  // The filters of a group see only its channels.
  EXPECT_EQ(CostOf("input x: f32[2, 4, 9, 8]\ninput w: f32[4, 1, 3, 3]\n"
                   "output y = conv2d(x, w, groups=4)",
                   {{"x", {2, 4, 9, 8}}, {"w", {4, 1, 3, 3}}})
                .operations,
            2.0 * (2 * 4 * 7 * 6) * (3 * 3));
  EXPECT_EQ(CostOf("input x: f32[2, 6, 7, 6]\ninput w: f32[6, 4, 3, 3]\n"
                   "output y = conv_transpose2d(x, w)",
                   {{"x", {2, 6, 7, 6}}, {"w", {6, 4, 3, 3}}})
                .operations,
            forward);
  EXPECT_EQ(CostOf("input x: f32[2, 4, 9, 8]\ninput d: f32[2, 6, 7, 6]\n"
                   "output y = conv_weight_grad(x, d, kernel=3)",
                   {{"x", {2, 4, 9, 8}}, {"d", {2, 6, 7, 6}}})
                .operations,
            forward);
}

TEST(CallCost, AttentionAndLoops) {
  const std::string inputs = "input q: f32[5, 8]\ninput k: f32[5, 8]\n";
  const double pair = 2 * 8 + 5 + 2 * 8;
  EXPECT_EQ(CostOf(inputs + "y, lse = attention(q, k, k)\noutput y", {{"q", {5, 8}}, {"k", {5, 8}}})
                .operations,
            5 * 5 * pair);
  EXPECT_EQ(CostOf(inputs + "y, lse = attention(q, k, k, causal=true)\noutput y",
                   {{"q", {5, 8}}, {"k", {5, 8}}})
                .operations,
            (1 + 2 + 3 + 4 + 5) * pair);
  EXPECT_EQ(CostOf("input x: f32[6, 3]\noutput y = scan(x, init=zeros([6]), axis=1, body=add())",
                   {{"x", {6, 3}}})
                .operations,
            6 * 3);
}

TEST(CallCost, AGatherReadsOnlyWhatItReturns) {
  const CallCost cost =
      CostOf("input x: f32[1000, 4]\noutput y = gather(x, [1, 3])", {{"x", {1000, 4}}});
  EXPECT_EQ(cost.operations, 0);
  EXPECT_LT(cost.bytes, 1000);
}

TEST(CallCost, AGroupReadsAndWritesNothingWithin) {
  const CallCost cost =
      CostOf("input x: f32[100, 8]\noutput y = relu(x * 2 - 1)", {{"x", {100, 8}}});
  EXPECT_EQ(cost.operations, 3 * 800);
  EXPECT_NEAR(cost.bytes, 2 * 4 * 800, 16);
}

TEST(Profiles, APageEscapesNames) {
  std::shared_ptr<const Network> network = MakeNetwork("input x: f32[3]\noutput y = sin(x)");
  Scope scope;
  Feed(scope, "x", Noise({3}));
  CPUContext context(1);
  TimedRuns runs;
  EXPECT_EQ(Message(runs.Run(*network, &scope, &context, {})), "");
  std::string page;
  llvm::raw_string_ostream os(page);
  ProfileReport(runs, std::nullopt).PrintHtml(os, "<script>alert(\"&\")</script>");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&quot;&amp;&quot;)"), std::string::npos);
  EXPECT_NE(page.find("there is no roofline"), std::string::npos);
}

/// A trace of `work`, read back.
perfetto::Trace TraceOf(llvm::function_ref<void()> work) {
  const std::string path = testing::TempDir() + "/profile_test.pftrace";
  std::unique_ptr<Trace> recording = Unwrap(Trace::Start(path, {.source = "m.pdl:1:1"}));
  work();
  EXPECT_EQ(Message(recording->Finish()), "");
  std::ifstream file(path, std::ios::binary);
  perfetto::Trace trace;
  EXPECT_TRUE(trace.ParseFromIstream(&file));
  return trace;
}

struct Counted {
  int begins = 0, ends = 0;
  std::set<uint64_t> tracks;
};

/// Counts the slices with a name, and checks that each slice names a source line.
Counted Count(const perfetto::Trace& trace, const std::string& wanted) {
  std::map<uint64_t, std::string> names;
  std::map<uint64_t, uint32_t> lines;
  Counted counted;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    for (const auto& name : packet.interned_data().event_names()) names[name.iid()] = name.name();
    for (const auto& location : packet.interned_data().source_locations())
      lines[location.iid()] = location.line_number();
    const perfetto::TrackEvent& event = packet.track_event();
    if (event.type() == perfetto::TrackEvent::TYPE_SLICE_END) ++counted.ends;
    if (event.type() != perfetto::TrackEvent::TYPE_SLICE_BEGIN) continue;
    EXPECT_GT(lines[event.source_location_iid()], 0u);
    if (names[event.name_iid()] != wanted) continue;
    ++counted.begins;
    counted.tracks.insert(event.track_uuid());
  }
  return counted;
}

TEST(Traces, EachCallOfEachThreadIsASlice) {
  constexpr int kThreads = 3, kRuns = 2000;
  std::shared_ptr<const Network> network = MakeNetwork("input x: f32[N]\noutput y = sort(x)");
  const perfetto::Trace trace = TraceOf([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        CPUContext context(1);
        Scope scope;
        Feed(scope, "x", Noise({5}));
        for (int run = 0; run < kRuns; ++run)
          EXPECT_EQ(Message(network->Run(&scope, &context)), "");
      });
    for (std::thread& thread : threads) thread.join();
  });
  const Counted sorts = Count(trace, "sort"), runs = Count(trace, "run");
  EXPECT_EQ(sorts.begins, kThreads * kRuns);
  EXPECT_EQ(runs.begins, kThreads * kRuns);
  EXPECT_EQ(sorts.tracks.size(), size_t{kThreads});
}

TEST(Traces, RunsMayContinueAfterTheEnd) {
  std::shared_ptr<const Network> network = MakeNetwork("input x: f32[N]\noutput y = sort(x)");
  std::atomic<bool> is_done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      CPUContext context(1);
      Scope scope;
      Feed(scope, "x", Noise({5}));
      while (!is_done) EXPECT_EQ(Message(network->Run(&scope, &context)), "");
    });
  for (int i = 0; i < 5; ++i) {
    const perfetto::Trace trace =
        TraceOf([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
    const Counted sorts = Count(trace, "sort");
    EXPECT_GE(sorts.ends, sorts.begins);
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace pdl
