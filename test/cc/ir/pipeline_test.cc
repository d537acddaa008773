// The order of passes, and their observers.
#include "pdl/compiler/pipeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

const Pipeline* const kAll[] = {&NetworkPipeline(),     &PlanPipeline(),      &StepPipeline(),
                                &CheckPipeline(),       &CheckStepPipeline(), &ImportPipeline(),
                                &ImportMergePipeline(), &ExportPipeline()};

/// The names of passes in the order of execution; those that had nothing to do in brackets.
class Names : public PassObserver {
 public:
  void AfterPass(const Pass& pass, const Graph& graph, const PassRun& run) override {
    text +=
        (text.empty() ? "" : " ") + (run.has_run ? pass.name.str() : "(" + pass.name.str() + ")");
    properties = PropertiesOf(graph);
    missing |= pass.established & ~properties;
  }
  std::string text;
  unsigned properties = 0;
  /// Properties that a pass declares as established, but that did not hold after it.
  unsigned missing = 0;
};

TEST(Pipeline, PassesStandAfterWhatTheyRequire) {
  for (const Pipeline* pipeline : kAll) {
    llvm::StringSet<> names;
    unsigned held = pipeline->given();
    for (const Pass& pass : pipeline->passes()) {
      const std::string what = pipeline->name().str() + ": " + pass.name.str();
      EXPECT_TRUE(names.insert(pass.name).second) << what;
      EXPECT_EQ(pass.required & ~held, 0u) << what;
      EXPECT_FALSE(pass.description.empty()) << what;
      // The help prints it next to the name.
      EXPECT_LE(pass.description.size(), 51u) << what;
      EXPECT_EQ(pipeline->Find(pass.name), &pass);
      held |= pass.established;
    }
  }
  EXPECT_EQ(NetworkPipeline().Find("channels-last"), nullptr);
}

// `--emit=pass:NAME` identifies a single pass.
TEST(Pipeline, NamesAreUniqueOnTheWayToARun) {
  llvm::StringSet<> names;
  for (const Pipeline* pipeline : RunPipelines())
    for (const Pass& pass : pipeline->passes()) EXPECT_TRUE(names.insert(pass.name).second);
}

constexpr char kRagged[] = R"(
input x: f32[N, ~T]
param w: f32[] = ones()
y = sum(x * w * w)
g = gradient(y, 1.0, w)
h = gradient(g, 1.0, w)
output h
)";

TEST(Pipeline, AnObserverSeesWhatEachPassDid) {
  Names names;
  NetworkOptions options;
  options.pass_observer = &names;
  auto network = MakeNetwork(kRagged, options);
  ASSERT_NE(network, nullptr);
  EXPECT_EQ(
      names.text,
      "(drop-training) dead-code lower-storage time-major-loops lower-gradients (update-used-rows) "
      "fold-transposes (reduce-precision) forward-single-operands common-subexpressions "
      "merge-loops prune-loops "
      "fold-constants final-dead-code");
  EXPECT_EQ(names.missing, 0u);
  EXPECT_EQ(PropertiesOf(network->optimized_graph()), kDense | kNoGradients | kNoTraining);
  EXPECT_EQ(PropertiesOf(network->graph()) & (kDense | kNoGradients), 0);
  names.text.clear();
  CPUContext context;
  EXPECT_EQ(Message(network->DescribePlan(&context, {}, {})), "");
  EXPECT_EQ(names.text,
            "(select-sides) (drop-unread-checks) (fold-normalizations) (channels-last)");
}

TEST(Pipeline, PassesThatOnlyMakeItFasterCanBeLeftOut) {
  Names names;
  NetworkOptions options;
  options.pass_observer = &names;
  options.optimize = false;
  options.precision = DType::kBF16;
  ASSERT_NE(MakeNetwork(kRagged, options), nullptr);
  EXPECT_EQ(names.text,
            "(drop-training) dead-code lower-storage (time-major-loops) lower-gradients "
            "(update-used-rows) "
            "(fold-transposes) reduce-precision (forward-single-operands) (common-subexpressions) "
            "(merge-loops) (prune-loops) "
            "(fold-constants) (final-dead-code)");
}

// Plan passes run for each combination of conditions, not for each set of sizes.
TEST(Pipeline, ANewSizeRunsNoPass) {
  Names names;
  NetworkOptions options;
  options.pass_observer = &names;
  auto network = MakeNetwork(R"(
input x: f32[N]
output y = plan_select(size([N]) > 4, cos(x), sin(x))
)",
                             options);
  ASSERT_NE(network, nullptr);
  CPUContext context;
  auto passes_of_run = [&](int64_t size) {
    names.text.clear();
    Scope scope;
    Feed(scope, "x", Noise({size}));
    EXPECT_EQ(Message(network->Run(&scope, &context)), "");
    return names.text;
  };
  EXPECT_EQ(passes_of_run(2),
            "select-sides (drop-unread-checks) (fold-normalizations) (channels-last)");
  EXPECT_EQ(passes_of_run(3), "");
  EXPECT_EQ(passes_of_run(5),
            "select-sides (drop-unread-checks) (fold-normalizations) (channels-last)");
  for (int64_t size = 1; size < 100; ++size) EXPECT_EQ(passes_of_run(size), "");
}

TEST(PassTimings, HaveARowForEachName) {
  PassTimings timings;
  NetworkOptions options;
  options.pass_observer = &timings;
  {
    const TimedStage stage(&timings, "create");
    for (int i = 0; i < 2; ++i) ASSERT_NE(MakeNetwork(kRagged, options), nullptr);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  timings.Print(os);
  auto count = [&](llvm::StringRef name) { return llvm::StringRef(text).count(name); };
  for (const Pass& pass : NetworkPipeline().passes())
    EXPECT_EQ(count("  " + pass.name.str() + "\n"), 1u) << text;
  EXPECT_EQ(count("  create\n"), 1u) << text;
  EXPECT_EQ(count("nothing to do"), 3u) << text;
  EXPECT_GT(timings.seconds(), 0);
}

}  // namespace
}  // namespace pdl
