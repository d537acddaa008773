#include "pdl/train/trainer.h"

#include <cmath>
#include <map>

#include "pdl/compiler/training.h"
#include "pdl/op/error.h"
#include "test/cc/testing/trainer_testing.h"

namespace pdl {
namespace {

TEST(Trainer, LearnsALine) {
  Training run(Options(40));
  ASSERT_TRUE(run.trainer) << run.message;
  const Graph graph = MakeGraph(kLine);
  run.trainer->SetValidation(Unwrap(Dataset::FromTensors(LinePoints(20, 9), graph)));
  EXPECT_EQ(run.trainer->metrics(), (llvm::ArrayRef<std::string>{"loss", "largest"}));
  EXPECT_EQ(run.trainer->losses(), (llvm::ArrayRef<std::string>{"loss"}));
  std::vector<StepReport> steps;
  std::vector<EpochReport> epochs;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepReport& report) {
    steps.push_back(report);
    return llvm::Error::success();
  };
  callbacks.on_epoch = [&](const EpochReport& report) {
    epochs.push_back(report);
    return llvm::Error::success();
  };
  EXPECT_EQ(Unwrap(run.trainer->Train(callbacks)), TrainingEnd::kDone);
  ASSERT_EQ(steps.size(), 280u);
  EXPECT_EQ(steps[0].batches, 7);
  EXPECT_EQ(steps[0].rows, 8);
  EXPECT_EQ(steps[6].rows, 2) << "the short batch counts";
  EXPECT_EQ(steps[7].epoch, 2);
  EXPECT_EQ(steps.back().step, 280);
  ASSERT_EQ(epochs.size(), 40u);
  EXPECT_EQ(epochs[0].step, 7);
  double mean = 0;
  for (size_t i = 0; i < 7; ++i)
    mean += steps[i].metrics[0].value * static_cast<double>(steps[i].rows) / 50;
  EXPECT_NEAR(epochs[0].training[0].value, mean, 1e-12);
  EXPECT_TRUE(epochs[0].is_best);
  EXPECT_LT(epochs.back().validation[0].value, 0.05) << "without dropout";
  EXPECT_EQ(epochs.back().validation[1].name, "largest");
  EXPECT_EQ(Elements<int64_t>(Unwrap(run.trainer->ValueOf("count")))[0], 280);
  EXPECT_EQ(run.trainer->step(), 280);
  EXPECT_EQ(run.trainer->epoch(), 40);
}

TEST(Trainer, SameBitsWithAnyNumberOfThreads) {
  std::string first;
  for (int threads : {1, 2, 3}) {
    Training run(Options(3), kLine, 50, threads);
    ASSERT_TRUE(run.trainer) << run.message;
    EXPECT_EQ(Unwrap(run.trainer->Train()), TrainingEnd::kDone);
    if (first.empty()) first = Result(*run.trainer);
    EXPECT_EQ(Result(*run.trainer), first);
  }
}

TEST(Trainer, OrderAndShortBatches) {
  TrainerOptions options = Options(1);
  options.drop_last = true;
  options.shuffle = false;
  Training run(options);
  ASSERT_TRUE(run.trainer) << run.message;
  int64_t rows = 0;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepReport& report) {
    rows += report.rows;
    return llvm::Error::success();
  };
  EXPECT_EQ(Unwrap(run.trainer->Train(callbacks)), TrainingEnd::kDone);
  EXPECT_EQ(rows, 48);
}

TEST(Trainer, StepsLimitInsideOfAnEpoch) {
  TemporaryFolder folder;
  TrainerOptions options = Options(0, folder.path());
  options.steps = 10;
  Training first(options);
  ASSERT_TRUE(first.trainer) << first.message;
  EXPECT_EQ(Unwrap(first.trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(first.trainer->step(), 10);
  options.steps = 21;
  Training second(options);
  ASSERT_EQ(Message(second.trainer->Resume(folder / "last.safetensors")), "");
  EXPECT_EQ(Unwrap(second.trainer->Train()), TrainingEnd::kDone);
  Training whole(Options(3));
  EXPECT_EQ(Unwrap(whole.trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(Result(*second.trainer), Result(*whole.trainer));
}

TEST(Trainer, StepByStep) {
  Training run(Options(1)), other(Options(2));
  ASSERT_TRUE(run.trainer) << run.message;
  for (int i = 0; i < 14; ++i) ASSERT_EQ(Message(run.trainer->Step()), "");
  EXPECT_EQ(Unwrap(other.trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(Result(*run.trainer), Result(*other.trainer));
}

TEST(Trainer, EndsWhereItGetsNoBetter) {
  TrainerOptions options = Options(1000);
  options.patience = 2;
  options.monitor = "largest:max";  // which decreases
  Training run(options);
  ASSERT_TRUE(run.trainer) << run.message;
  EXPECT_EQ(Unwrap(run.trainer->Train()), TrainingEnd::kPatience);
  EXPECT_LT(run.trainer->epoch(), 100);
}

TEST(Trainer, ALossThatIsNoNumber) {
  TemporaryFolder folder;
  const std::string text = llvm::StringRef(kLine).split("update w").first.str() +
                           "update w = w - 1e30 * gw\nupdate b = b - 0.1 * gb\n"
                           "update count = count + 1\n";
  TrainerOptions options = Options(3, folder.path());
  options.save_every = 1;
  Training run(options, text);
  ASSERT_TRUE(run.trainer) << run.message;
  EXPECT_EQ(Message(run.trainer->Train()),
            "the loss 'loss' is inf in step 2, of epoch 1 [PDL0514]");
  EXPECT_EQ(Unwrap(ReadCheckpointInfo(folder / "last.safetensors")).step, 1)
      << "the last good checkpoint stays";
  EXPECT_EQ(folder.CountFiles(), 1u);

  options.check_finite = true;
  options.folder = "";
  Training checked(options, text);
  EXPECT_EQ(Message(checked.trainer->Train()),
            "m.pdl:7:26: step 2: pow: gives inf at [0] of 'loss_pow': f32[8], from operands that "
            "have none [PDL0514]");
}

/// The loss is finite in the step after which v is not.
constexpr char kSpoiled[] = R"(input x: f32[N, 2]
input t: f32[N]
state v: f32[] = ones()
state w: f32[2] = ones()
state high: f32[] = ones()
output loss = mean(sqrt(v * v)) + 0.0 * mean(x) + 0.0 * mean(t)
update v = where(step < 3, v, (v - v) / (v - v))
update w = w
update high = high * 1e30
)";

TEST(Trainer, WhatIsNoNumberIsNotKept) {
  TemporaryFolder folder;
  TrainerOptions options = Options(9, folder.path());
  options.save_every = 1;
  // Values that are not finite initially may stay so.
  const float w[] = {1, INFINITY};
  options.network.weights["w"] = Constant::Copy(DType::kF32, {2}, w);
  Training run(options, kSpoiled);
  ASSERT_TRUE(run.trainer) << run.message;
  EXPECT_EQ(Message(run.trainer->Train()), "state 'v' holds nan after step 4 [PDL0514]");
  EXPECT_EQ(Unwrap(ReadCheckpointInfo(folder / "last.safetensors")).step, 3);
  EXPECT_EQ(folder.CountFiles(), 1u);
  // Nor at the end, where no later step would detect it.
  TemporaryFolder other;
  options = Options(0, other.path());
  options.steps = 4;
  Training end(options, kSpoiled);
  EXPECT_EQ(Message(end.trainer->Train()), "state 'v' holds nan after step 4 [PDL0514]");
  EXPECT_EQ(other.CountFiles(), 0u);
}

TEST(Trainer, AStateMayGrowBeyondAllBounds) {
  TemporaryFolder folder;
  Training run(Options(3, folder.path()), R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 1] = normal()
state high: f32[] = ones()
loss = mean((reshape(x @ w, [N]) - t) ** 2)
update high = high * 1e30
minimize loss with sgd(lr=0.1)
)");
  ASSERT_TRUE(run.trainer) << run.message;
  EXPECT_EQ(Unwrap(run.trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(Elements<float>(Unwrap(run.trainer->ValueOf("high")))[0], INFINITY);
}

TEST(Trainer, AStateOfNoMatterMayBeNoNumber) {
  TemporaryFolder folder;
  Training run(Options(2, folder.path()), R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 1] = normal()
state share: f32[] = zeros()
large = cast(x > 100.0, to=f32)
loss = mean((reshape(x @ w, [N]) - t) ** 2)
update share = sum(x * large) / sum(large)
minimize loss with adam(lr=0.1)
)");
  EXPECT_EQ(Unwrap(run.trainer->Train()), TrainingEnd::kDone);
  EXPECT_TRUE(std::isnan(Elements<float>(Unwrap(run.trainer->ValueOf("share")))[0]));
}

TEST(Trainer, DataThatAreNoNumbers) {
  const Graph graph = MakeGraph(kLine);
  auto points = [&](int64_t rows, int64_t odd, float value) {
    std::vector<NamedTensor> tensors = LinePoints(rows);
    tensors[0].second.data<float>()[2 * odd + 1] = value;
    return Unwrap(Dataset::FromTensors(tensors, graph, "d.npz"));
  };
  CPUContext context(1);
  auto made = [&](Dataset data, TrainerOptions options) {
    return Unwrap(Trainer::Create(graph, std::move(data), options, &context, GlobalRegistry()));
  };
  TrainerOptions options = Options(3);
  options.batch_size = 50;
  options.shuffle = false;
  EXPECT_EQ(Message(made(points(50, 17, NAN), options)->Train()),
            "the loss 'loss' is nan in step 1, of epoch 1; row 17 of d.npz has nan in 'x' "
            "[PDL0514]");
  options.check_finite = true;
  EXPECT_EQ(Message(made(points(50, 17, INFINITY), options)->Train()),
            "step 1: input 'x': f32[50, 2] holds inf at [17, 1]; row 17 of d.npz has inf in 'x' "
            "[PDL0514]");
  options.batch_size = 20;
  auto checked = made(points(50, 17, 0), options);
  checked->SetValidation(points(50, 41, NAN));
  EXPECT_EQ(Message(checked->Train()),
            "d.npz, rows 40 to 49: input 'x': f32[10, 2] holds nan at [1, 1] [PDL0514]");
  // A validation loss that is not finite also ends the run, and the previous epoch stays.
  TemporaryFolder folder;
  options = Options(3, folder.path());
  auto measured = made(points(50, 17, 0), options);
  measured->SetValidation(points(30, 4, NAN));
  EXPECT_EQ(Message(measured->Train()),
            "the loss 'loss' of d.npz is nan after step 7, of epoch 1; row 4 of d.npz has nan in "
            "'x' [PDL0514]");
  EXPECT_EQ(folder.CountFiles(), 0u);
}

TEST(Trainer, RaggedDataThatAreNoNumbers) {
  const Graph graph = MakeGraph(R"(input x: f32[N, ~T, 2]
state w: f32[] = ones()
output loss = mean(sequence_pool(x)) * w
update w = w - 0.1
)");
  CPUContext context(1);
  auto trainer = Unwrap(Trainer::Create(
      graph,
      Unwrap(Dataset::FromTensors(
          {{"x", F32({4, 2}, {0, 1, 2, 3, 4, 5, NAN, 7})}, {"x.offsets", I64({0, 1, 1, 3, 4})}},
          graph, "d.npz")),
      Options(1), &context, GlobalRegistry()));
  EXPECT_EQ(Message(trainer->Train()),
            "the loss 'loss' is nan in step 1, of epoch 1; row 3 of d.npz has nan in 'x' "
            "[PDL0514]");
}

constexpr char kMinimize[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 1] = normal()
param b: f32[] = zeros()
y = reshape(dropout(x, p=0.1) @ w, [N]) + b
loss = mean((y - t) ** 2)
size = (b - 0.5) ** 2
minimize loss over w with adam(lr=0.05)
minimize size over b with sgd(lr=0.1) every 3
)";

TEST(Trainer, MinimizeStatements) {
  auto make = [](TrainerOptions options) {
    CompileRequest request;
    request.file = std::make_shared<SourceFile>("m.pdl", kMinimize);
    request.registry = &GlobalRegistry();
    request.library = StandardLayers();
    request.training_step = true;
    CompileResult result = Compile(request);
    EXPECT_TRUE(result.graph);
    static CPUContext context(2);
    return Unwrap(Trainer::Create(*result.graph,
                                  Unwrap(Dataset::FromTensors(LinePoints(50), *result.graph)),
                                  std::move(options), &context, GlobalRegistry()));
  };
  TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  std::unique_ptr<Trainer> whole = make(Options(40));
  EXPECT_EQ(whole->losses(), (llvm::ArrayRef<std::string>{"loss", "size"}));
  std::vector<size_t> counts;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepReport& report) -> llvm::Error {
    counts.push_back(report.metrics.size());
    return report.step == 10 ? whole->Save(path) : llvm::Error::success();
  };
  double last = 1;
  callbacks.on_epoch = [&](const EpochReport& report) {
    last = report.training[0].value;
    return llvm::Error::success();
  };
  EXPECT_EQ(Unwrap(whole->Train(callbacks)), TrainingEnd::kDone);
  EXPECT_LT(last, 0.5);
  EXPECT_EQ(std::vector<size_t>(counts.begin(), counts.begin() + 6),
            (std::vector<size_t>{1, 1, 2, 1, 1, 2}));
  std::unique_ptr<Trainer> resumed = make(Options(40));
  ASSERT_EQ(Message(resumed->Resume(path)), "");
  EXPECT_EQ(Unwrap(resumed->Train()), TrainingEnd::kDone);
  for (const char* name : {"w", "b"})
    EXPECT_EQ(Bytes(Unwrap(resumed->ValueOf(name))), Bytes(Unwrap(whole->ValueOf(name))));
}

/// The parameters after one step, by name.
std::map<std::string, float> AfterOneStep(const std::string& text) {
  TrainerOptions options = Options(0);
  options.steps = 1;
  Training run(options, text);
  EXPECT_EQ(run.message, "");
  EXPECT_EQ(Message(run.trainer->Step()), "");
  std::map<std::string, float> values;
  const Graph graph = MakeGraph(text);
  for (const auto* parameter : graph.parameters())
    values[parameter->name()] = Elements<float>(Unwrap(run.trainer->ValueOf(parameter->name())))[0];
  return values;
}

TEST(Trainer, AttributesOfParameters) {
  // Each has the gradient 1.
  const std::string text = R"(input x: f32[N, 2]
input t: f32[N]
param slow: f32[] = constant(2.0) with {lr_scale=0.5}
param small: f32[] = constant(2.0) with {weight_decay=0.1}
param sparse_up: f32[] = constant(2.0) with {l1=0.3}
param sparse_down: f32[] = constant(-2.0) with {l1=0.3}
param at_zero: f32[] = zeros() with {l1=0.3}
param both: f32[] = constant(2.0) with {weight_decay=0.1, l1=0.3}
param clipped: f32[] = constant(2.0) with {gradient_clipping=0.25}
param fixed: f32[] = constant(2.0) with {trainable=false}
param plain: f32[] = constant(2.0)
loss = slow + small + sparse_up + sparse_down + at_zero + both + clipped + fixed + plain + 0.0 * mean(x) + 0.0 * mean(t)
minimize loss with sgd(lr=0.1)";
  std::map<std::string, float> values = AfterOneStep(text + ")\n");
  EXPECT_FLOAT_EQ(values["slow"], 2 - 0.5f * 0.1f);
  EXPECT_FLOAT_EQ(values["small"], 2 - 0.1f * (1 + 0.1f * 2));
  // l1 adds the sign of the parameter, which is 0 at 0.
  EXPECT_FLOAT_EQ(values["sparse_up"], 2 - 0.1f * (1 + 0.3f));
  EXPECT_FLOAT_EQ(values["sparse_down"], -2 - 0.1f * (1 - 0.3f));
  EXPECT_FLOAT_EQ(values["at_zero"], -0.1f);
  EXPECT_FLOAT_EQ(values["both"], 2 - 0.1f * (1 + 0.1f * 2 + 0.3f));
  EXPECT_FLOAT_EQ(values["clipped"], 2 - 0.1f * 0.25f);
  EXPECT_EQ(values["fixed"], 2);
  EXPECT_FLOAT_EQ(values["plain"], 2 - 0.1f);
  // First by value, then by the global norm, which is sqrt(7 + 1/16), then the decay and l1.
  const float norm = std::sqrt(7.0625f);
  values = AfterOneStep(text + ", clip_norm=" + std::to_string(norm / 2) + ")\n");
  EXPECT_FLOAT_EQ(values["slow"], 2 - 0.5f * 0.1f * 0.5f);
  EXPECT_FLOAT_EQ(values["small"], 2 - 0.1f * (0.5f + 0.1f * 2));
  EXPECT_FLOAT_EQ(values["sparse_up"], 2 - 0.1f * (0.5f + 0.3f));
  EXPECT_FLOAT_EQ(values["clipped"], 2 - 0.1f * 0.25f * 0.5f);
  EXPECT_EQ(values["fixed"], 2);
  EXPECT_FLOAT_EQ(values["plain"], 2 - 0.1f * 0.5f);
}

TEST(Trainer, AllStatementsReadTheSameParameters) {
  const std::map<std::string, float> values = AfterOneStep(R"(input x: f32[N, 2]
input t: f32[N]
param p: f32[] = constant(1.0)
param q: f32[] = constant(2.0)
state seen: f32[] = zeros()
product = p * q + 0.0 * mean(x) + 0.0 * mean(t)
update seen = product
minimize product over p with sgd(lr=1.0)
minimize product over q with sgd(lr=1.0)
)");
  EXPECT_EQ(values.at("p"), 1 - 2);
  EXPECT_EQ(values.at("q"), 2 - 1) << "not by the new p";
}

TEST(Trainer, WhatCannotBeTrained) {
  EXPECT_EQ(Training(Options(1), "input x: f32[N, 2]\noutput loss = mean(x)\n").message,
            "there is nothing to train: the network has no minimize statement, and no update "
            "[PDL0408]");
  TrainerOptions options = Options(1);
  options.batch_size = 0;
  EXPECT_EQ(Training(options).message, "a batch has at least 1 row, got 0 [PDL0515]");
  EXPECT_EQ(Training(Options(0)).message,
            "training needs an end: epochs or steps must be larger than 0 "
            "[PDL0515]");
  options = Options(1);
  options.drop_last = true;
  options.batch_size = 51;
  EXPECT_EQ(Training(options).message,
            "the data has 50 rows, fewer than a batch of 51, and incomplete batches are dropped "
            "[PDL0515]");
  options = Options(1);
  options.monitor = "largset";
  EXPECT_EQ(Training(options).message,
            "there is no loss or metric 'largset', did you mean 'largest'? [PDL0102]");
  options.monitor = "accuracy";
  EXPECT_EQ(Training(options).message,
            "there is no loss or metric 'accuracy'; there are loss, largest [PDL0102]");
}

TEST(Trainer, NothingSaysWhenToEnd) {
  TrainerOptions options = Options(9);
  options.patience = 2;
  EXPECT_EQ(Training(options,
                     "input x: f32[N, 2]\nstate w: f32[2] = ones()\noutput y = x * w\n"
                     "update w = w - mean(x, axes=[0])\n")
                .message,
            "early stopping requires a loss or a metric, but the network has none [PDL0515]");
}

TEST(MakeTrainingStep, WhatIsNoStep) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", kMinimize);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  CompileResult result = Compile(request);
  ASSERT_TRUE(result.graph);
  EXPECT_EQ(Message(MakeTrainingStep(*result.graph)),
            "the network was not compiled for training [PDL0408]");
  EXPECT_EQ(Message(MakeTrainingStep(MakeGraph(kLine))),
            "there is nothing to train: no minimize statement [PDL0408]");
  request.training_step = true;
  result = Compile(request);
  ASSERT_TRUE(result.graph);
  EXPECT_EQ(Message(MakeTrainingStep(*result.graph, {0, 2})),
            "there are 2 minimize statements, got number 2 [PDL0408]");
}

TEST(Trainer, AFolderThatCannotBeWritten) {
  TemporaryFolder folder;
  Training run(Options(1, folder / "missing"));
  ASSERT_TRUE(run.trainer) << run.message;
  EXPECT_NE(Message(run.trainer->Train()).find("cannot write '"), std::string::npos);
}

}  // namespace
}  // namespace pdl
