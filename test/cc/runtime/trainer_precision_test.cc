// Mixed precision, and weight files.
#include <algorithm>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/passes.h"
#include "pdl/compiler/training.h"
#include "pdl/op/error.h"
#include "pdl/train/trainer.h"
#include "test/cc/testing/trainer_testing.h"

namespace pdl {
namespace {

/// A loss with large gradients, which overflow in f16 if the loss is scaled by much.
constexpr char kLarge[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 8] = normal()
param v: f32[8, 1] = normal()
param b: f32[] = zeros()
state seen: i64[] = zeros()
y = reshape(dropout(tanh(x @ w), p=0.1) @ v, [N]) + b
loss = 1000.0 * mean((y - t) ** 2)
output y
update seen = seen + 1
minimize loss with adam(lr=0.02)
)";

Graph MakeTrained(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.training_step = true;
  CompileResult result = Compile(request);
  EXPECT_TRUE(result.graph);
  return result.graph ? std::move(*result.graph) : Graph();
}

std::unique_ptr<Trainer> MakeTrainer(TrainerOptions options, DType precision,
                                     const std::string& text = kLarge) {
  static CPUContext context(2);
  options.network.precision = precision;
  const Graph graph = MakeTrained(text);
  return Unwrap(Trainer::Create(graph, Unwrap(Dataset::FromTensors(LinePoints(50), graph)),
                                std::move(options), &context, GlobalRegistry()));
}

const char* const kLearned[] = {"w", "v", "b", "w.adam.m", "v.adam.v", "b.adam.t"};

/// Parameters and states, as bytes.
std::string Learned(const Trainer& trainer) {
  std::string bytes;
  for (const char* name : kLearned) bytes += Bytes(Unwrap(trainer.ValueOf(name)));
  return bytes;
}
float ScaleOf(const Trainer& trainer) {
  return Elements<float>(Unwrap(trainer.ValueOf("loss_scale")))[0];
}

TEST(TrainerPrecision, AStepWhoseGradientsOverflowIsSkipped) {
  std::unique_ptr<Trainer> trainer = MakeTrainer(Options(100), DType::kF16);
  std::string learned = Learned(*trainer);
  float scale = 0x1p16f;
  int64_t skipped = 0;
  double first = 0;
  for (int64_t step = 1; step <= 40; ++step) {
    const StepReport report = Unwrap(trainer->Step());
    if (step == 1) first = report.metrics[0].value;
    EXPECT_EQ(report.loss_scale, scale) << step;
    if (report.is_skipped) {
      ++skipped;
      scale /= 2;
      EXPECT_EQ(Learned(*trainer), learned) << step;
    } else {
      EXPECT_NE(Learned(*trainer), learned) << step;
    }
    EXPECT_EQ(ScaleOf(*trainer), scale) << step;
    // A skipped step changes no state except the number of steps.
    const int64_t good = step - skipped;
    EXPECT_EQ(Elements<int64_t>(Unwrap(trainer->ValueOf("seen")))[0], good);
    EXPECT_EQ(Elements<int64_t>(Unwrap(trainer->ValueOf("step")))[0], step);
    learned = Learned(*trainer);
  }
  EXPECT_GE(skipped, 3);
  EXPECT_LE(skipped, 20);
  double last = 0;
  TrainingCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochReport& report) {
    last = report.training[0].value;
    return llvm::Error::success();
  };
  EXPECT_EQ(Unwrap(trainer->Train(callbacks)), TrainingEnd::kDone);
  EXPECT_LT(last, first / 10);
}

TEST(TrainerPrecision, LearnsAsInF32) {
  double reached[3];
  const DType precisions[] = {DType::kF32, DType::kBF16, DType::kF16};
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<Trainer> trainer = MakeTrainer(Options(60), precisions[i]);
    TrainingCallbacks callbacks;
    callbacks.on_epoch = [&](const EpochReport& report) {
      reached[i] = report.training[0].value;
      return llvm::Error::success();
    };
    EXPECT_EQ(Unwrap(trainer->Train(callbacks)), TrainingEnd::kDone);
    for (const char* name : {"w", "v", "b"})
      EXPECT_EQ(Unwrap(trainer->ValueOf(name)).dtype(), DType::kF32);
  }
  EXPECT_NEAR(reached[1], reached[0], 0.1 * reached[0]);
  EXPECT_NEAR(reached[2], reached[0], 0.1 * reached[0]);
  EXPECT_NE(reached[1], reached[0]) << "it is another computation";
}

TEST(TrainerPrecision, CheckFiniteLeavesSkippedStepsAlone) {
  TrainerOptions options = Options(3);
  std::unique_ptr<Trainer> plain = MakeTrainer(options, DType::kF16);
  options.check_finite = true;
  std::unique_ptr<Trainer> checked = MakeTrainer(options, DType::kF16);
  EXPECT_EQ(Unwrap(plain->Train()), TrainingEnd::kDone);
  EXPECT_EQ(Unwrap(checked->Train()), TrainingEnd::kDone);
  EXPECT_LT(ScaleOf(*plain), 0x1p16f);
  EXPECT_EQ(ScaleOf(*checked), ScaleOf(*plain));
  EXPECT_EQ(Learned(*checked), Learned(*plain));
}

constexpr char kRoot[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 1] = zeros()
z = x @ w
loss = mean(sqrt(z * z)) + mean(t)
minimize loss with sgd(lr=0.1)
)";

TEST(TrainerPrecision, GradientsThatAreNeverFinite) {
  std::unique_ptr<Trainer> trainer = MakeTrainer(Options(100), DType::kF16, kRoot);
  EXPECT_EQ(Message(trainer->Train()),
            "step 41: a gradient is nan or infinite, even with the smallest loss scale [PDL0514]");
  // check_finite reports it as soon as the scale cannot be the cause.
  TrainerOptions options = Options(100);
  options.check_finite = true;
  std::unique_ptr<Trainer> checked = MakeTrainer(options, DType::kF16, kRoot);
  EXPECT_EQ(Message(checked->Train()),
            "m.pdl:5:13: step 41: div: gives inf at [0, 0] of 'd_loss_sqrt_3': f32[8, 1], from "
            "operands that have none [PDL0514]");
  options.network.precision = DType::kF32;
  EXPECT_EQ(Message(MakeTrainer(options, DType::kBF16, kRoot)->Train()).substr(0, 30),
            "m.pdl:5:13: step 1: div: gives");
}

TEST(TrainerPrecision, TheScaleGrowsAfterManyGoodSteps) {
  std::string text = kLarge;
  text.replace(text.find("1000.0 * "), 9, "0.001 * ");
  TrainerOptions options = Options(0);
  options.steps = 1999;
  TemporaryFolder folder;
  options.folder = folder.path();
  std::unique_ptr<Trainer> trainer = MakeTrainer(options, DType::kF16, text);
  EXPECT_EQ(Unwrap(trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(ScaleOf(*trainer), 0x1p16f);
  options.steps = 2001;
  std::unique_ptr<Trainer> resumed = MakeTrainer(options, DType::kF16, text);
  ASSERT_EQ(Message(resumed->Resume(folder / "last.safetensors")), "");
  EXPECT_EQ(Unwrap(resumed->Train()), TrainingEnd::kDone);
  EXPECT_EQ(ScaleOf(*resumed), 0x1p17f);
}

TEST(TrainerPrecision, AGradientThatIsNotUsedByACallIsNotScaled) {
  constexpr char kText[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 1] = ones()
state last: f32[2, 1] = zeros()
loss = mean((x @ w) ** 2) + mean(t)
slope = grad(loss, w)
update last = slope
output slope
minimize loss with sgd(lr=0.001)
)";
  std::vector<float> slopes[2];
  for (const DType precision : {DType::kF32, DType::kF16}) {
    TrainerOptions options = Options(1);
    options.batch_size = 50;
    std::unique_ptr<Trainer> trainer = MakeTrainer(options, precision, kText);
    const StepReport report = Unwrap(trainer->Step());
    EXPECT_FALSE(report.is_skipped);
    slopes[precision == DType::kF16] = Elements<float>(Unwrap(trainer->ValueOf("last")));
  }
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(slopes[1][i], slopes[0][i], 0.01 * std::abs(slopes[0][i]));
}

TEST(TrainerPrecision, OnlyStatesReadGradients) {
  for (const char* text :
       {"input x: f32[N, 2]\ninput t: f32[N]\nstate w: f32[2] = ones()\n"
        "state g: f32[2] = zeros()\nstate c: f32[2] = zeros()\n"
        "loss = mean((x * w) ** 2) + mean(t)\nupdate g = grad(loss, w)\n"
        "param p: f32[] = ones()\nminimize mean(p * t) with sgd(lr=0.1)\n",
        // A ragged gradient.
        "input x: f32[N, 2]\ninput t: f32[N]\nparam w: f32[] = ones()\n"
        "state s: f32[] = zeros()\ny = ragged(reshape(x, [2 * N]), 2 * ones([N], dtype=i64)) * w\n"
        "d = grad(mean(y ** 2), y)\nupdate s = sum(d)\n"
        "minimize mean(t) + 0.0 * w with sgd(lr=0.1)\n"}) {
    std::unique_ptr<Trainer> trainer = MakeTrainer(Options(1), DType::kF16, text);
    EXPECT_EQ(Unwrap(trainer->Train()), TrainingEnd::kDone) << text;
    EXPECT_GE(ScaleOf(*trainer), 1) << text;
  }
}

TEST(TrainerPrecision, NamesOfTheScaleAreNew) {
  constexpr char kText[] = R"(input x: f32[N, 2]
input t: f32[N]
param loss_scale.good: f32[2, 1] = ones()
loss = mean((x @ loss_scale.good) ** 2) + mean(t)
minimize loss with sgd(lr=0.001)
)";
  std::unique_ptr<Trainer> trainer = MakeTrainer(Options(1), DType::kF16, kText);
  EXPECT_EQ(Unwrap(trainer->Train()), TrainingEnd::kDone);
  EXPECT_GE(Elements<float>(Unwrap(trainer->ValueOf("loss_scale_2")))[0], 1);
}

TEST(TrainerPrecision, AveragesOfLazyTables) {
  constexpr char kText[] = R"(input x: f32[N, 2]
input t: f32[N]
param table: f32[20, 2] = normal()
rows = gather(table, clip(cast(abs(t), to=i64), low=0, high=19))
loss = mean((rows - x) ** 2)
minimize loss with sgd(lr=0.1, lazy=true)
)";
  std::vector<float> averages[2];
  for (const DType precision : {DType::kF32, DType::kF16}) {
    TrainerOptions options = Options(2);
    options.average = 0.5;
    std::unique_ptr<Trainer> trainer = MakeTrainer(options, precision, kText);
    EXPECT_EQ(Unwrap(trainer->Train()), TrainingEnd::kDone);
    averages[precision == DType::kF16] = Elements<float>(Unwrap(trainer->ValueOf("table.average")));
  }
  for (size_t i = 0; i < averages[0].size(); ++i)
    EXPECT_NEAR(averages[1][i], averages[0][i], 1e-2) << i;
}

TEST(TrainerPrecision, SmallGradientsOf16BitParameters) {
  constexpr char kText[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f16[1] = ones()
loss = mean((t * 0.0 + 1.0) * cast(w, to=f32)) * 0.00000001
minimize loss with sgd(lr=10000000.0)
)";
  std::unique_ptr<Trainer> trainer = MakeTrainer(Options(1), DType::kF16, kText);
  EXPECT_FALSE(Unwrap(trainer->Step()).is_skipped);
  const Constant w = Unwrap(trainer->ValueOf("w")).ToConstant();
  EXPECT_NEAR(w.ElementAsDouble(0), 0.9, 1e-3);
}

TEST(TrainerPrecision, AnAssertionOfAGradientDoesNotEndAStepThatIsSkipped) {
  constexpr char kText[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 1] = ones()
loss = mean((x @ w) ** 2 + 1.0) * 100000.0 + mean(t)
g = grad(loss, w)
assert all(isfinite(g)), "the gradient is not finite"
minimize loss with sgd(lr=0.0000001)
)";
  std::unique_ptr<Trainer> trainer = MakeTrainer(Options(4), DType::kF16, kText);
  EXPECT_EQ(Unwrap(trainer->Train()), TrainingEnd::kDone);
  EXPECT_LT(ScaleOf(*trainer), 0x1p16f);
}

TEST(TrainerPrecision, ResumesBitForBitWithTheScale) {
  for (const DType precision : {DType::kF16, DType::kBF16}) {
    TemporaryFolder folder;
    const std::string path = folder / "c.safetensors";
    std::unique_ptr<Trainer> whole = MakeTrainer(Options(3), precision);
    std::vector<StepReport> reports;
    // During the skipped steps.
    for (int i = 0; i < 3; ++i) reports.push_back(Unwrap(whole->Step()));
    EXPECT_EQ(reports[1].is_skipped, precision == DType::kF16);
    EXPECT_EQ(reports[1].loss_scale, precision == DType::kF16 ? 0x1p15 : 0);
    ASSERT_EQ(Message(whole->Save(path)), "");
    EXPECT_EQ(Unwrap(ReadCheckpointInfo(path)).precision, precision);
    EXPECT_EQ(Unwrap(whole->Train()), TrainingEnd::kDone);
    std::unique_ptr<Trainer> resumed = MakeTrainer(Options(3), precision);
    ASSERT_EQ(Message(resumed->Resume(path)), "");
    EXPECT_EQ(Unwrap(resumed->Train()), TrainingEnd::kDone);
    EXPECT_EQ(Learned(*resumed), Learned(*whole));
    ASSERT_EQ(Message(whole->Save(folder / "whole")), "");
    ASSERT_EQ(Message(resumed->Save(folder / "resumed")), "");
    EXPECT_EQ(ReadBytes(folder / "resumed"), ReadBytes(folder / "whole"));
    EXPECT_EQ(Message(MakeTrainer(Options(3), DType::kF32)->Resume(path)),
              "'" + path +
                  "' is the checkpoint of another run, which cannot be resumed here: the "
                  "precision is " +
                  DTypeName(precision).str() + " there and f32 here [PDL0516]");
  }
}

TEST(TrainerPrecision, OtherDTypesAreRefused) {
  static CPUContext context(1);
  TrainerOptions options = Options(1);
  options.network.precision = DType::kF64;
  const Graph graph = MakeTrained(kLarge);
  EXPECT_EQ(Message(Trainer::Create(graph, Unwrap(Dataset::FromTensors(LinePoints(50), graph)),
                                    options, &context, GlobalRegistry())),
            "products are computed in f32, bf16 or f16, not in f64 [PDL0515]");
}

/// The calls of a step after lowering, "type(operand dtypes) -> result dtype".
std::vector<std::string> CallsOf(const Graph& graph) {
  std::vector<std::string> calls;
  for (const Op* op : graph.ops()) {
    std::string call = op->type() + "(";
    for (const auto* operand : op->operands())
      call +=
          DTypeName(operand->type().dtype).str() + (operand == op->operands().back() ? "" : " ");
    calls.push_back(call + ") -> " + DTypeName(op->result()->type().dtype).str());
  }
  return calls;
}

NetworkOptions InDType(DType precision) {
  NetworkOptions options;
  options.precision = precision;
  return options;
}

TEST(ReducePrecision, CastsAParameterOnceAndLeavesTheRest) {
  const Graph graph = MakeTrained(R"(input x: f32[N, 8]
input t: i64[N] in 0..8
param w: f32[8, 8] = normal()
h = transpose(x @ w) @ x
h = reshape(softmax(x @ w @ h), [N, 8])
loss = mean(cross_entropy(transpose(transpose(h @ w)), t))
minimize loss with adam(lr=0.1)
)");
  Graph step = Unwrap(MakeTrainingStep(graph));
  auto network = Unwrap(Network::Create(std::move(step), InDType(DType::kBF16), GlobalRegistry()));
  const Graph& lowered = network->optimized_graph();
  const auto* w = lowered.FindValue("w");
  const auto casts =
      llvm::count_if(w->uses(), [](const auto& use) { return use.op->type() == "cast"; });
  EXPECT_EQ(casts, 1);
  EXPECT_FALSE(llvm::any_of(w->uses(), [](const auto& use) { return use.op->type() == "matmul"; }));
  const std::vector<std::string> calls = CallsOf(lowered);
  EXPECT_TRUE(llvm::is_contained(calls, "matmul(bf16 bf16) -> bf16"));
  EXPECT_TRUE(llvm::is_contained(calls, "transpose(bf16) -> bf16"));
  for (const std::string& call : calls) {
    const llvm::StringRef type = llvm::StringRef(call).split('(').first;
    if (type == "matmul") {
      EXPECT_EQ(call, "matmul(bf16 bf16) -> bf16");
    }
    if (type == "softmax" || type == "mean" || type == "sum" || type == "log_softmax") {
      EXPECT_EQ(call, type.str() + "(f32) -> f32");
    }
  }
  // The emitted source is in topological order, too.
  const std::string text = EmitPdl(lowered);
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("flat.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  EXPECT_TRUE(Compile(request).graph) << text;
}

TEST(ReducePrecision, StatisticsOfAttentionStayInF32) {
  const Graph graph = MakeTrained(R"(input q: f32[B, 2, T, 4]
input k: f32[B, 2, S, 4]
param w: f32[4] = normal()
y, lse = attention(q * w, k * w, k)
loss = mean(y) + mean(lse)
minimize loss with sgd(lr=0.1)
)");
  auto network = Unwrap(
      Network::Create(Unwrap(MakeTrainingStep(graph)), InDType(DType::kF16), GlobalRegistry()));
  const std::vector<std::string> calls = CallsOf(network->optimized_graph());
  EXPECT_TRUE(llvm::is_contained(calls, "attention(f16 f16 f16) -> f16"));
  EXPECT_TRUE(llvm::is_contained(calls, "attention_gradient(f16 f16 f16 f32 f16 f32) -> f16"));
}

TEST(ReducePrecision, WhatIsMovedKeepsItsDigits) {
  // The second use of x is not in a matmul, so it must not use the cast of the first one.
  const Graph graph = MakeTrained(R"(input x: f32[N, 4]
param w: f32[4, 4] = normal()
loss = mean((reshape(x @ w, [4*N]) - reshape(x, [4*N])) ** 2)
minimize loss with sgd(lr=0.1)
)");
  auto network = Unwrap(
      Network::Create(Unwrap(MakeTrainingStep(graph)), InDType(DType::kBF16), GlobalRegistry()));
  const std::vector<std::string> calls = CallsOf(network->optimized_graph());
  EXPECT_TRUE(llvm::is_contained(calls, "matmul(bf16 bf16) -> bf16"));
  EXPECT_TRUE(llvm::is_contained(calls, "reshape(bf16) -> bf16"));
  EXPECT_TRUE(llvm::is_contained(calls, "reshape(f32) -> f32"));
}

/// The calls in the bodies of all loops.
std::vector<std::string> CallsOfBodies(const Graph& graph) {
  std::vector<std::string> calls;
  for (const Op* op : graph.ops()) {
    if (!op->def().body) continue;
    const auto body = static_cast<size_t>(op->def().signature.BlockAttribute());
    for (std::string& call :
         CallsOf(graph.ExtractBlock(std::get<BlockId>(op->attribute_values()[body]))))
      calls.push_back(std::move(call));
  }
  return calls;
}

/// Matmuls of all kinds of operands of a loop; `v` and `h` have other uses as well.
constexpr char kLoop[] = R"(layer cell(x: f32[N, 4], h: f32[N, 4], w: f32[4, 4], v: f32[4, 4]) {
  h = tanh(x @ w + h @ v) + 0.1 * (h @ transpose(v)) + sum(v)
  return h=h, y=h
}
input x: f32[N, T, 4]
input t: f32[N, 4]
param w: f32[4, 4] = normal(std=0.3)
param v: f32[4, 4] = normal(std=0.1)
y, last = scan(x, init=zeros([N, 4]), captured=[w, v], body=cell())
output y
loss = mean((last - t) ** 2)
minimize loss with sgd(lr=0.1)
)";

TEST(ReducePrecision, InBodiesOfLoops) {
  const Graph graph = MakeTrained(kLoop);
  auto network = Unwrap(
      Network::Create(Unwrap(MakeTrainingStep(graph)), InDType(DType::kBF16), GlobalRegistry()));
  const Graph& lowered = network->optimized_graph();
  size_t loops = 0;
  for (const Op* op : lowered.ops()) {
    if (!op->def().body) continue;
    ++loops;
    const auto integer = [&](llvm::StringRef name) {
      return static_cast<size_t>(std::get<int64_t>(
          op->attribute_values()[static_cast<size_t>(op->def().signature.FindAttribute(name))]));
    };
    const size_t first = integer("num_xs"), end = first + integer("num_init");
    for (size_t i = first; i < end; ++i)
      EXPECT_EQ(op->operands()[i]->type().dtype, DType::kF32) << "what is carried";
    // Only w is used by matmuls only. The loop back does not need it, since its products are kept.
    const size_t captured = integer("num_captured");
    ASSERT_EQ(captured, loops == 1 ? 2u : 1u);
    if (loops == 1) {
      EXPECT_EQ(op->operands()[end]->type().dtype, DType::kBF16);
    }
    EXPECT_EQ(op->operands()[end + captured - 1]->type().dtype, DType::kF32);
  }
  EXPECT_EQ(loops, 2u) << "forward and back";
  const std::vector<std::string> calls = CallsOfBodies(lowered);
  EXPECT_TRUE(llvm::is_contained(calls, "matmul(bf16 bf16) -> bf16"));
  for (const std::string& call : calls) {
    const llvm::StringRef type = llvm::StringRef(call).split('(').first;
    if (type == "matmul") {
      EXPECT_EQ(call, "matmul(bf16 bf16) -> bf16");
    }
    if (type == "tanh" || type == "sum") {
      EXPECT_EQ(call, type.str() + "(f32) -> f32");
    }
  }
}

TEST(ReducePrecision, ALoopComputesNearlyTheSame) {
  std::vector<float> x, t;
  for (int i = 0; i < 3 * 5 * 4; ++i) x.push_back(0.1f * static_cast<float>(i % 17 - 8));
  for (int i = 0; i < 3 * 4; ++i) t.push_back(0.2f * static_cast<float>(i % 5 - 2));
  const Graph graph = MakeTrained(kLoop);
  std::vector<std::vector<float>> learned;
  for (const DType precision : {DType::kF32, DType::kBF16, DType::kF16}) {
    auto network = Unwrap(
        Network::Create(Unwrap(MakeTrainingStep(graph)), InDType(precision), GlobalRegistry()));
    Scope scope;
    scope.Create("x")->Set(F32({3, 5, 4}, x));
    scope.Create("t")->Set(F32({3, 4}, t));
    CPUContext context(2);
    RunOptions run;
    run.training = true;
    ASSERT_EQ(Message(network->Run(&scope, &context, run)), "");
    std::vector<float> moved;
    for (const char* name : {"w", "v"}) {
      const auto before = Elements<float>(Unwrap(network->InitialValue(name)));
      const auto after = Elements<float>(*scope.Find(name)->Get<Tensor>());
      for (size_t i = 0; i < before.size(); ++i) moved.push_back(after[i] - before[i]);
    }
    learned.push_back(std::move(moved));
  }
  float largest = 0;
  for (const float each : learned[0]) largest = std::max(largest, std::abs(each));
  ASSERT_GT(largest, 0.001f);
  for (size_t i = 0; i < learned[0].size(); ++i) {
    EXPECT_NEAR(learned[1][i], learned[0][i], 0.05f * largest) << i;
    EXPECT_NEAR(learned[2][i], learned[0][i], 0.005f * largest) << i;
  }
  EXPECT_NE(learned[1], learned[0]) << "it is another computation";
}

TEST(Trainer, WeightsAreWhatARunNeeds) {
  const std::string text = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 1] = normal()
param fixed: f32[] = ones() with {trainable=false}
state seen: f32[] = zeros()
y = reshape(x @ w, [N]) + fixed
update seen = seen + mean(y)
output y
loss = mean((y - t) ** 2)
minimize loss with adam(lr=0.02)
)";
  auto names_in = [](const std::string& path) {
    std::vector<std::string> names;
    const SafetensorsFile file = Unwrap(SafetensorsFile::Open(path));
    for (const SafetensorsFile::Entry& entry : file.entries()) names.push_back(entry.name);
    llvm::sort(names);
    return names;
  };
  TemporaryFolder folder;
  TrainerOptions options = Options(2);
  options.folder = folder.path();
  std::unique_ptr<Trainer> trainer = MakeTrainer(options, DType::kF16, text);
  EXPECT_EQ(Unwrap(trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(names_in(folder / "best.safetensors"),
            (std::vector<std::string>{"fixed", "seen", "w"}));
  EXPECT_EQ(names_in(folder / "last.safetensors"),
            (std::vector<std::string>{"fixed", "loss_scale", "loss_scale.good", "seen", "step", "w",
                                      "w.adam.m", "w.adam.t", "w.adam.v"}));
  const std::string best = folder / "best.safetensors";
  EXPECT_EQ(
      Message(MakeTrainer(options, DType::kF16, text)->Resume(best)),
      "'" + best +
          "' is not a checkpoint: it has tensors, but no metadata about the progress of a run "
          "[PDL0516]");
  // `step` if the network itself uses it.
  std::string counts = text;
  counts.replace(counts.find("+ fixed"), 7, "+ fixed * cast(step, to=f32)");
  std::unique_ptr<Trainer> other = MakeTrainer(Options(2), DType::kF32, counts);
  ASSERT_EQ(Message(other->SaveWeights(folder / "w.safetensors")), "");
  EXPECT_EQ(names_in(folder / "w.safetensors"),
            (std::vector<std::string>{"fixed", "seen", "step", "w"}));
}

}  // namespace
}  // namespace pdl
