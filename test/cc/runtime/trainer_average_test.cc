// Moving averages of parameters.
#include <cmath>
#include <tuple>

#include "pdl/compiler/passes.h"
#include "pdl/compiler/training.h"
#include "test/cc/testing/trainer_testing.h"

namespace pdl {
namespace {

const char kFit[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2] = normal()
param b: f32[] = zeros()
param fixed: f32[] = ones() with {trainable=false}
output loss = mean((sum(x * w, axes=[1]) + b * fixed - t) ** 2)
minimize loss with sgd(lr=0.05)
)";

TrainerOptions Averaged(double decay, const std::string& folder = "") {
  TrainerOptions options = Options(2, folder);
  options.average = decay;
  return options;
}

TEST(Averages, FollowTheParameters) {
  Training run(Averaged(0.75), kFit);
  ASSERT_TRUE(run.trainer) << run.message;
  std::vector<float> expected = Elements<float>(Unwrap(run.trainer->ValueOf("w")));
  EXPECT_EQ(Elements<float>(Unwrap(run.trainer->ValueOf("w.average"))), expected);
  for (int step = 0; step < 10; ++step) {
    ASSERT_EQ(Message(run.trainer->Step()), "");
    const std::vector<float> w = Elements<float>(Unwrap(run.trainer->ValueOf("w")));
    for (size_t i = 0; i < 2; ++i) expected[i] += (w[i] - expected[i]) * 0.25f;
    const std::vector<float> average = Elements<float>(Unwrap(run.trainer->ValueOf("w.average")));
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(average[i], expected[i], 1e-6) << step;
    EXPECT_EQ(Elements<float>(Unwrap(run.trainer->TrainedValueOf("w"))), average);
  }
  EXPECT_NE(Elements<float>(Unwrap(run.trainer->ValueOf("w"))), expected);
  EXPECT_EQ(Elements<float>(Unwrap(run.trainer->TrainedValueOf("fixed"))), std::vector<float>{1});
}

TEST(Averages, HaveTheLocationsOfTheUpdates) {
  llvm::Expected<Graph> step = MakeTrainingStep(MakeGraph(kFit));
  ASSERT_TRUE(static_cast<bool>(step)) << llvm::toString(step.takeError());
  ASSERT_EQ(Message(AverageParameters(*step, GlobalRegistry(), {0.9, {"w", "b"}})), "");
  const auto* average = step->FindValue("w.average_next");
  ASSERT_NE(average, nullptr);
  EXPECT_EQ(average->location(), step->FindValue("w.sgd.sub")->location());
  for (const Op* op : step->ops()) EXPECT_NE(step->LocationToString(op->location()), "");
}

TEST(Averages, DoNotChangeTheTraining) {
  Training with(Averaged(0.9), kFit), without(Options(2), kFit);
  EXPECT_EQ(Unwrap(with.trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(Unwrap(without.trainer->Train()), TrainingEnd::kDone);
  for (const char* name : {"w", "b"})
    EXPECT_EQ(Bytes(Unwrap(with.trainer->ValueOf(name))),
              Bytes(Unwrap(without.trainer->ValueOf(name))));
}

TEST(Averages, AreEvaluatedAndWritten) {
  TemporaryFolder folder;
  Training run(Averaged(0.9), kFit);
  for (int step = 0; step < 3; ++step) ASSERT_EQ(Message(run.trainer->Step()), "");
  ASSERT_EQ(Message(run.trainer->SaveWeights(folder / "w.safetensors")), "");
  auto file = SafetensorsFile::Open(folder / "w.safetensors");
  ASSERT_TRUE(static_cast<bool>(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(file->entries().size(), 3u);  // w, b, fixed
  const Tensor average = Unwrap(run.trainer->ValueOf("w.average"));
  EXPECT_EQ(Bytes(Tensor::FromConstant(file->Read(*file->Find("w")))), Bytes(average));
  // The same loss as a network with those parameters.
  const Graph graph = MakeGraph(kFit);
  auto data = Dataset::FromTensors(LinePoints(20, 7), graph);
  ASSERT_TRUE(static_cast<bool>(data));
  const double measured = Unwrap(run.trainer->Evaluate(*data))[0].value;
  TrainerOptions options = Options(1);
  for (const char* name : {"w", "b"})
    options.network.weights[name] = Unwrap(run.trainer->TrainedValueOf(name)).ToConstant();
  Training other(options, kFit);
  EXPECT_EQ(Unwrap(other.trainer->Evaluate(*data))[0].value, measured);
}

TEST(Averages, ResumeBitForBit) {
  TemporaryFolder folder, parted;
  Training whole(Averaged(0.9, folder.path()), kFit);
  EXPECT_EQ(Unwrap(whole.trainer->Train()), TrainingEnd::kDone);
  Training first(Averaged(0.9, parted.path()), kFit);
  for (int step = 0; step < 5; ++step) ASSERT_EQ(Message(first.trainer->Step()), "");
  ASSERT_EQ(Message(first.trainer->Save(parted / "last.safetensors")), "");
  Training second(Averaged(0.9, parted.path()), kFit);
  ASSERT_EQ(Message(second.trainer->Resume(parted / "last.safetensors")), "");
  EXPECT_EQ(Unwrap(second.trainer->Train()), TrainingEnd::kDone);
  for (const char* file : {"last.safetensors", "best.safetensors"})
    EXPECT_EQ(ReadBytes(parted / file), ReadBytes(folder / file)) << file;
  Training other(Averaged(0.5), kFit);
  EXPECT_EQ(Message(other.trainer->Resume(parted / "last.safetensors")),
            "'" + (parted / "last.safetensors") +
                "' is the checkpoint of another run, which cannot be resumed here: the decay of "
                "the averages is 0.9 there and 0.5 here [PDL0516]");
}

TEST(Averages, OfParametersWithFewBitsHaveMore) {
  std::string text = kFit;
  text.replace(text.find("param b: f32[]"), 14, "param b: bf16[]");
  text.replace(text.find("b * fixed"), 9, "cast(b, to=f32) * fixed");
  Training run(Averaged(0.99), text);
  ASSERT_TRUE(run.trainer) << run.message;
  ASSERT_EQ(Message(run.trainer->Step()), "");
  EXPECT_EQ(Unwrap(run.trainer->ValueOf("b.average")).dtype(), DType::kF32);
  EXPECT_EQ(Unwrap(run.trainer->TrainedValueOf("b")).dtype(), DType::kBF16);
  ASSERT_EQ(Message(run.trainer->Evaluate(
                Unwrap(Dataset::FromTensors(LinePoints(8, 2), MakeGraph(text))))),
            "");
}

class AveragesOfTables : public testing::TestWithParam<std::tuple<int64_t, const char*>> {};

TEST_P(AveragesOfTables, ChangeInAllRows) {
  const auto [rows, optimizer] = GetParam();
  const std::string text =
      "input x: f32[N, 2]\ninput t: f32[N]\nparam table: f32[" + std::to_string(rows) +
      ", 2] = normal()\nrows = gather(table, cast(abs(x[:, 0]) * 4.99, to=i64))\n"
      "output loss = mean((sum(x * rows, axes=[1]) - t) ** 2)\nminimize loss with " +
      optimizer + "\n";
  Training with(Averaged(0.5), text), without(Options(1), text);
  ASSERT_TRUE(with.trainer) << with.message;
  std::vector<float> expected = Elements<float>(Unwrap(with.trainer->ValueOf("table")));
  for (int step = 0; step < 4; ++step) {
    ASSERT_EQ(Message(with.trainer->Step()), "");
    ASSERT_EQ(Message(without.trainer->Step()), "");
    const std::vector<float> now = Elements<float>(Unwrap(with.trainer->ValueOf("table")));
    EXPECT_EQ(now, Elements<float>(Unwrap(without.trainer->ValueOf("table"))));
    for (size_t i = 0; i < now.size(); ++i) expected[i] = (expected[i] + now[i]) / 2;
  }
  const std::vector<float> average =
      Elements<float>(Unwrap(with.trainer->ValueOf("table.average")));
  ASSERT_EQ(average.size(), expected.size());
  for (size_t i = 0; i < average.size(); ++i) ASSERT_NEAR(average[i], expected[i], 1e-6) << i;
}

// Steps write only the used rows of large tables, and with lazy=true of all tables.
INSTANTIATE_TEST_SUITE_P(, AveragesOfTables,
                         testing::Combine(testing::Values(5, 20'000),
                                          testing::Values("sgd(lr=0.1)", "adam(lr=0.1)",
                                                          "adam(lr=0.1, lazy=true)")));

TEST(Averages, WrongOptions) {
  EXPECT_EQ(Training(Averaged(1), kFit).message,
            "the decay of the averages must be at least 0 and less than 1, got 1.0 [PDL0515]");
  EXPECT_EQ(Training(Averaged(std::nan("")), kFit).message,
            "the decay of the averages must be at least 0 and less than 1, got nan [PDL0515]");
  EXPECT_EQ(Training(Averaged(0.9), kLine).message,
            "there are no parameters to average: the network has no minimize statement [PDL0515]");
  std::string taken = kFit;
  taken.insert(taken.find("output loss"),
               "state w.average: f32[2] = zeros()\nupdate w.average = w\n");
  EXPECT_EQ(Training(Averaged(0.9), taken).message,
            "'w.average' is the name of the moving average of 'w', and must not be used [PDL0408]");
}

}  // namespace
}  // namespace pdl
