// Steps that are computed from micro-batches, by one process and by several ranks.
#include <bit>
#include <chrono>
#include <cmath>
#include <thread>

#include "gmock/gmock.h"

#include "test/cc/testing/thread_communicator.h"
#include "test/cc/testing/trainer_testing.h"

namespace pdl {
namespace {

/// A network with everything that a step may update: dropout, running statistics, a learning rate
/// that changes, gradients clipped by their common norm, optimizer states, and a counter.
const char kNetwork[] = R"(input x: f32[N, 2]
input t: f32[N]
state count: i64[] = zeros()
hidden = x |> fc(size=8) |> batch_norm() |> dropout(p=0.2)
y = hidden |> tanh() |> fc(size=1)
loss = mean((reshape(y, [N]) - t) ** 2)
output largest = max(abs(t))
update count = count + 1
minimize loss with adam(lr=cosine(step, from=0.05, until=100), clip_norm=0.5)
)";

/// An embedding, whose rows are those of the sign of an element, and an update of its own.
const char kTable[] = R"(input x: f32[N, 2]
input t: f32[N]
state seen: f32[2] = zeros()
param table: f32[3, 4] = normal()
v = gather(table, cast(greater(x[:, 0], 0.0), to=i64))
loss = mean((sum(v, axes=[1]) - t) ** 2)
update seen = seen * 0.9 + 0.1 * mean(x, axes=[0])
minimize loss with adagrad(lr=0.1)
)";

TrainerOptions MicroBatches(int64_t rows, int64_t epochs = 2) {
  TrainerOptions options = Options(epochs);
  options.micro_batch = rows;
  return options;
}

/// All variables of a run, as bytes, and the losses of its steps.
std::string Train(const std::string& text, TrainerOptions options, int64_t rows = 50) {
  Training run(std::move(options), text, rows);
  if (!run.trainer) return run.message;
  std::string result;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepReport& report) {
    for (const Metric& metric : report.metrics)
      result.append(reinterpret_cast<const char*>(&metric.value), sizeof(metric.value));
    return llvm::Error::success();
  };
  llvm::Expected<TrainingEnd> end = run.trainer->Train(callbacks);
  if (!end) return Message(end.takeError());
  TemporaryFolder folder;
  EXPECT_EQ(Message(run.trainer->Save(folder / "last.safetensors")), "");
  return result + ReadBytes(folder / "last.safetensors");
}

/// The results of the ranks, which must be equal.
std::string TrainRanks(int ranks, const std::string& text, const TrainerOptions& options,
                       int64_t rows = 50) {
  std::vector<std::string> results(static_cast<size_t>(ranks));
  RunRanks(ranks, [&](Communicator& communicator) {
    TrainerOptions own = options;
    own.communicator = &communicator;
    results[static_cast<size_t>(communicator.rank())] = Train(text, own, rows);
  });
  for (const std::string& result : results) EXPECT_EQ(result == results[0], true);
  return results[0];
}

TEST(MicroBatches, OneOfTheWholeBatchIsAnOrdinaryStep) {
  EXPECT_EQ(Train(kNetwork, MicroBatches(8)), Train(kNetwork, MicroBatches(0)));
  EXPECT_EQ(Train(kNetwork, MicroBatches(9)), Train(kNetwork, MicroBatches(0)));
}

TEST(MicroBatches, ApproximateTheStepOfTheBatch) {
  // Without dropout and batch_norm only the order of additions differs. 50 rows: the last batch has
  // two rows, and the last micro-batch one.
  const char kPlain[] = R"(input x: f32[N, 2]
input t: f32[N]
w = x |> fc(size=4, act=tanh()) |> fc(size=1)
loss = mean((reshape(w, [N]) - t) ** 2)
minimize loss with sgd(lr=0.1, momentum=0.9)
)";
  Training whole(Options(3), kPlain), parts(MicroBatches(3, 3), kPlain);
  ASSERT_TRUE(whole.trainer && parts.trainer) << whole.message << parts.message;
  for (int step = 0; step < 21; ++step) {
    const StepReport a = Unwrap(whole.trainer->Step()), b = Unwrap(parts.trainer->Step());
    EXPECT_NEAR(a.metrics[0].value, b.metrics[0].value, 1e-5) << step;
  }
  const Graph graph = MakeGraph(kPlain);
  EXPECT_EQ(graph.parameters().size(), 4U);
  for (const auto* parameter : graph.parameters()) {
    const std::string& name = parameter->name();
    const auto a = Elements<float>(Unwrap(whole.trainer->ValueOf(name)));
    const auto b = Elements<float>(Unwrap(parts.trainer->ValueOf(name)));
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4) << name << i;
  }
}

TEST(MicroBatches, AStepIsTheMeanOfTheMicroBatches) {
  // w -= lr * mean over micro-batches of x's means; sums are means of sums. Three rows:
  // micro-batches of 2 rows and 1 row, with weights 2/3 and 1/3.
  const char kSum[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2] = zeros()
loss = sum(x * w)
output rows = cast(sum(t * 0.0 + 1.0), to=f64)
minimize loss with sgd(lr=1.0)
)";
  TrainerOptions options = MicroBatches(2, 1);
  options.batch_size = 3;
  options.shuffle = false;
  Training run(options, kSum, 3);
  ASSERT_TRUE(run.trainer) << run.message;
  const StepReport report = Unwrap(run.trainer->Step());
  EXPECT_DOUBLE_EQ(report.metrics[1].value, (2 * 2.0 + 1) / 3);
  const auto x = Elements<float>(LinePoints(3)[0].second);
  const auto w = Elements<float>(Unwrap(run.trainer->ValueOf("w")));
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(w[i], -(2 * (x[i] + x[2 + i]) + x[4 + i]) / 3, 1e-6);
}

TEST(MicroBatches, RunningStatisticsAreMeans) {
  const char kStatistics[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[] = ones()
state average: f32[2] = zeros()
state kept: f64[] = zeros()
loss = w * mean(t)
update average = 0.5 * average + 0.5 * mean(x, axes=[0])
update kept = kept + cast(max(t), to=f64)
minimize loss with sgd()
)";
  TrainerOptions options = MicroBatches(2, 1);
  options.batch_size = 4;
  options.shuffle = false;
  Training run(options, kStatistics, 4);
  ASSERT_TRUE(run.trainer) << run.message;
  Unwrap(run.trainer->Step());
  const auto x = Elements<float>(LinePoints(4)[0].second),
             t = Elements<float>(LinePoints(4)[1].second);
  EXPECT_NEAR(Elements<float>(Unwrap(run.trainer->ValueOf("average")))[1],
              0.125f * (x[1] + x[3] + x[5] + x[7]), 1e-6);
  EXPECT_NEAR(Elements<double>(Unwrap(run.trainer->ValueOf("kept")))[0],
              (std::max(t[0], t[1]) + std::max(t[2], t[3])) / 2, 1e-6);
}

TEST(MicroBatches, RanksHaveTheBitsOfOneProcess) {
  for (const char* text : {kNetwork, kTable, kLine}) {
    const std::string alone = Train(text, MicroBatches(2));
    EXPECT_GT(alone.size(), 500U) << alone;
    EXPECT_EQ(TrainRanks(1, text, MicroBatches(2)) == alone, true);
    EXPECT_EQ(TrainRanks(2, text, MicroBatches(2)) == alone, true);
    // Four ranks have two rows each by default.
    EXPECT_EQ(TrainRanks(4, text, MicroBatches(0)) == alone, true);
  }
  TrainerOptions options = MicroBatches(1);
  options.batch_size = 12;
  EXPECT_EQ(TrainRanks(3, kNetwork, options) == Train(kNetwork, options), true);
}

TEST(MicroBatches, InReducedPrecision) {
  TrainerOptions options = MicroBatches(2, 1);
  options.average = 0.9;
  for (const DType precision : {DType::kF16, DType::kBF16}) {
    options.network.precision = precision;
    const std::string alone = Train(kNetwork, options);
    EXPECT_GT(alone.size(), 500U) << alone;
    EXPECT_EQ(TrainRanks(4, kNetwork, options) == alone, true);
  }
}

TEST(MicroBatches, AnOverflowInOneSkipsTheStep) {
  // The square of t overflows in f16 in a scaled gradient.
  const char kLarge[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 1] = ones()
y = x @ w
loss = mean((reshape(y, [N]) * 30.0 - t) ** 2)
minimize loss with sgd(lr=0.0001)
)";
  for (const bool check : {false, true}) {
    TrainerOptions options = MicroBatches(2, 1);
    options.network.precision = DType::kF16;
    options.check_finite = check;
    Training run(options, kLarge);
    ASSERT_TRUE(run.trainer) << run.message;
    const std::string before = Bytes(Unwrap(run.trainer->ValueOf("w")));
    const StepReport report = Unwrap(run.trainer->Step());
    EXPECT_TRUE(report.is_skipped);
    EXPECT_EQ(report.loss_scale, 65536);
    EXPECT_EQ(Bytes(Unwrap(run.trainer->ValueOf("w"))), before);
    EXPECT_EQ(Unwrap(run.trainer->Step()).loss_scale, 32768);
  }
}

TEST(MicroBatches, RanksEvaluateAndStopAlike) {
  std::vector<std::string> reports(4);
  std::string alone;
  const auto train = [](TrainerOptions options, std::string* text) {
    options.patience = 2;
    options.monitor = "largest";
    Training run(std::move(options), kNetwork);
    ASSERT_TRUE(run.trainer) << run.message;
    run.trainer->SetValidation(
        Unwrap(Dataset::FromTensors(LinePoints(37, 5), MakeGraph(kNetwork))));
    TrainingCallbacks callbacks;
    callbacks.on_epoch = [&](const EpochReport& report) {
      for (const Metric& metric : report.validation)
        *text += std::to_string(std::bit_cast<uint64_t>(metric.value)) + " ";
      *text += report.is_best ? "best\n" : "\n";
      return llvm::Error::success();
    };
    EXPECT_EQ(Unwrap(run.trainer->Train(callbacks)), TrainingEnd::kPatience);
  };
  train(MicroBatches(2, 50), &alone);
  EXPECT_NE(alone, "");
  RunRanks(4, [&](Communicator& communicator) {
    TrainerOptions options = MicroBatches(2, 50);
    options.communicator = &communicator;
    train(options, &reports[static_cast<size_t>(communicator.rank())]);
  });
  for (const std::string& report : reports) EXPECT_EQ(report, alone);
}

TEST(MicroBatches, OneRankThatIsAskedToStopStopsAll) {
  RunRanks(2, [&](Communicator& communicator) {
    TrainerOptions options = MicroBatches(2);
    options.communicator = &communicator;
    Training run(options, kNetwork);
    ASSERT_TRUE(run.trainer) << run.message;
    std::atomic<bool> stop = false;
    TrainingCallbacks callbacks;
    callbacks.stop = &stop;
    callbacks.on_step = [&](const StepReport& report) {
      stop = communicator.rank() == 1 && report.step == 3;
      return llvm::Error::success();
    };
    EXPECT_EQ(Unwrap(run.trainer->Train(callbacks)), TrainingEnd::kStopped);
    EXPECT_EQ(run.trainer->step(), 4);
  });
}

TEST(MicroBatches, ResumesWithAnotherNumberOfRanks) {
  const std::string whole = TrainRanks(4, kNetwork, MicroBatches(2, 3));
  TemporaryFolder folder;
  TrainerOptions first = MicroBatches(2, 3);
  first.steps = 10;
  RunRanks(4, [&](Communicator& communicator) {
    TrainerOptions options = first;
    options.communicator = &communicator;
    if (communicator.rank() == 0) options.folder = folder.path();
    Training run(options, kNetwork);
    ASSERT_TRUE(run.trainer) << run.message;
    EXPECT_EQ(Unwrap(run.trainer->Train()), TrainingEnd::kDone);
  });
  EXPECT_EQ(Unwrap(ReadCheckpointInfo(folder / "last.safetensors")).micro_batch, 2);
  std::vector<std::string> ends(2);
  RunRanks(2, [&](Communicator& communicator) {
    TrainerOptions options = MicroBatches(2, 3);
    options.communicator = &communicator;
    Training run(options, kNetwork);
    ASSERT_TRUE(run.trainer) << run.message;
    // Only rank 0 has the checkpoint.
    if (communicator.rank() == 0) {
      EXPECT_EQ(Message(run.trainer->Resume(folder / "last.safetensors")), "");
    }
    EXPECT_EQ(Unwrap(run.trainer->Train()), TrainingEnd::kDone);
    TemporaryFolder own;
    EXPECT_EQ(Message(run.trainer->Save(own / "end")), "");
    ends[static_cast<size_t>(communicator.rank())] = ReadBytes(own / "end");
  });
  EXPECT_EQ(ends[0] == ends[1], true);
  EXPECT_TRUE(llvm::StringRef(whole).ends_with(ends[0]));
  // A step of other micro-batches has other bits.
  Training other(MicroBatches(4, 3), kNetwork);
  EXPECT_EQ(
      Message(other.trainer->Resume(folder / "last.safetensors")),
      "'" + (folder / "last.safetensors") +
          "' is the checkpoint of another run, which cannot be resumed here: a micro-batch has "
          "2 rows there and 4 here [PDL0516]");
}

// --- Errors -------------------------------------------------------------------------------------

TEST(MicroBatches, WrongSizes) {
  EXPECT_EQ(Training(MicroBatches(-1)).message,
            "a micro-batch has at least 1 row, got -1 [PDL0515]");
  const auto message = [](int ranks, int64_t batch, int64_t micro) {
    std::string said;
    RunRanks(ranks, [&](Communicator& communicator) {
      TrainerOptions options = MicroBatches(micro);
      options.batch_size = batch;
      options.communicator = &communicator;
      const Training run(options, kNetwork);
      if (communicator.rank() == 0) {
        said = run.message;
      } else {
        EXPECT_EQ(run.message, "another rank reports the error");
      }
    });
    return said;
  };
  EXPECT_EQ(
      message(4, 30, 0),
      "4 ranks cannot share a batch of 30 rows equally; 28 or 32 rows are possible [PDL0515]");
  EXPECT_EQ(message(4, 3, 0),
            "4 ranks cannot share a batch of 3 rows equally; 4 rows are possible [PDL0515]");
  EXPECT_EQ(message(2, 12, 4),
            "micro-batches of 4 rows do not divide the 6 rows that each of 2 ranks has of a batch "
            "[PDL0515]");
}

TEST(MicroBatches, StatesWithoutMeans) {
  const char kCount[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[] = ones()
state positive: i64[] = zeros()
loss = w * mean(t)
update positive = positive + sum(cast(greater(t, 0.0), to=i64))
minimize loss with sgd()
)";
  EXPECT_EQ(Training(MicroBatches(0), kCount).message, "");
  EXPECT_EQ(Training(MicroBatches(2), kCount).message,
            "m.pdl:6:28: an update reads 'positive_2': i64[], which depends on the examples, so a "
            "step cannot be computed from micro-batches: only floating-point values of fixed sizes "
            "have a mean over them [PDL0408]");
}

TEST(MicroBatches, RanksThatDiffer) {
  const auto messages = [](const std::function<void(int, TrainerOptions&, std::string&)>& change,
                           int64_t rows_of_1 = 50) {
    std::vector<std::string> said(2);
    RunRanks(2, [&](Communicator& communicator) {
      const int rank = communicator.rank();
      TrainerOptions options = MicroBatches(2);
      std::string text = kNetwork;
      options.communicator = &communicator;
      change(rank, options, text);
      Training run(options, text, rank == 1 ? rows_of_1 : 50);
      ASSERT_TRUE(run.trainer) << run.message;
      said[static_cast<size_t>(rank)] = Message(run.trainer->Step().takeError());
    });
    EXPECT_EQ(said[1], "another rank reports the error");
    return said[0];
  };
  EXPECT_EQ(messages([](int, TrainerOptions&, std::string&) {}, 51),
            "the ranks do not agree: rank 1 differs from rank 0 in the data [PDL0515]");
  EXPECT_EQ(messages([](int rank, TrainerOptions& options, std::string&) {
              options.seed += static_cast<uint64_t>(rank);
            }),
            "the ranks do not agree: rank 1 differs from rank 0 in the seed [PDL0515]");
  EXPECT_EQ(messages([](int rank, TrainerOptions&, std::string& text) {
              if (rank == 1) text.replace(text.find("0.05"), 4, "0.06");
            }),
            "the ranks do not agree: rank 1 differs from rank 0 in the network [PDL0515]");
}

TEST(MicroBatches, BucketsDoNotChangeTheResult) {
  for (const char* text : {kNetwork, kTable}) {
    TrainerOptions options = MicroBatches(2);
    const std::string expected = Train(text, options);
    // One value in each bucket, a few, and all in one; also with ranks that have no micro-batch of
    // the last batch.
    for (const int64_t bytes : {1, 64, 1 << 20})
      for (const int ranks : {2, 4}) {
        options.bucket_bytes = bytes;
        EXPECT_EQ(TrainRanks(ranks, text, options) == expected, true) << bytes << " " << ranks;
      }
    options.bucket_bytes = 1;
    options.network.precision = DType::kF16;
    EXPECT_EQ(TrainRanks(2, text, options) == Train(text, options), true);
    options.network.precision = DType::kF32;
    options.check_finite = true;
    EXPECT_EQ(TrainRanks(2, text, options) == expected, true);
  }
}

/// Sizes depend on data, so a step has two parts; the first one computes `seen`, and the gradients
/// of the second one overflow in f16 until the scale is small.
const char kOverflow[] = R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[2, 2] = ones()
output seen = mean(t)
large = gather(x, nonzero(x[:, 0] + 1000.0)[:, 0])
loss = mean((large @ w) ** 2) * 1000.0
minimize loss with sgd(lr=1e-6)
)";

TEST(MicroBatches, AnOverflowInTheSecondPartOfAStep) {
  TrainerOptions options = MicroBatches(2);
  options.network.precision = DType::kF16;
  options.check_finite = true;
  const std::string expected = Train(kOverflow, options);
  EXPECT_GT(expected.size(), 100u) << expected;
  for (const int64_t bytes : {1, 1 << 20}) {
    options.bucket_bytes = bytes;
    EXPECT_EQ(TrainRanks(2, kOverflow, options) == expected, true) << bytes;
  }
}

TEST(MicroBatches, OptionsOfBuckets) {
  TrainerOptions options = MicroBatches(2);
  options.bucket_bytes = 0;
  EXPECT_EQ(Train(kNetwork, options), "a bucket of gradients has at least 1 byte, got 0 [PDL0515]");
  RunRanks(2, [&](Communicator& communicator) {
    TrainerOptions own = MicroBatches(2);
    own.communicator = &communicator;
    own.bucket_bytes = communicator.rank() == 0 ? 1 : 1000;
    Training run(own, kNetwork);
    ASSERT_TRUE(run.trainer) << run.message;
    EXPECT_EQ(Message(run.trainer->Step().takeError()),
              communicator.rank() == 0
                  ? "the ranks do not agree: rank 1 differs from rank 0 in the "
                    "buckets of gradients [PDL0515]"
                  : "another rank reports the error");
  });
}

TEST(MicroBatches, ARankThatDoesNotAnswer) {
  RunRanks(
      3,
      [&](Communicator& communicator) {
        TrainerOptions options = MicroBatches(2);
        options.batch_size = 6;
        options.communicator = &communicator;
        Training run(options, kNetwork);
        ASSERT_TRUE(run.trainer) << run.message;
        Unwrap(run.trainer->Step());
        if (communicator.rank() == 2) return;
        EXPECT_EQ(Message(run.trainer->Step().takeError()),
                  "step 2: rank 2 did not answer within 1 s");
      },
      1);
}

TEST(MicroBatches, ReportsTheSlowestRank) {
  RunRanks(3, [&](Communicator& communicator) {
    TrainerOptions options = MicroBatches(2);
    options.batch_size = 6;
    options.communicator = &communicator;
    options.bucket_bytes = 1;
    Training run(options, kNetwork);
    ASSERT_TRUE(run.trainer) << run.message;
    for (int step = 0; step < 3; ++step) {
      const StepReport report = Unwrap(run.trainer->Step());
      EXPECT_LE(report.times.median, report.times.slowest);
      if (step < 2) {
        if (communicator.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
        continue;
      }
      EXPECT_EQ(report.times.slowest_rank, 1);
      EXPECT_GE(report.times.slowest, 1);
    }
  });
  // Without other ranks.
  Training run(MicroBatches(2), kNetwork);
  EXPECT_EQ(Unwrap(run.trainer->Step()).times.slowest_rank, -1);
}

TEST(MicroBatches, ALossThatIsNan) {
  RunRanks(2, [&](Communicator& communicator) {
    TrainerOptions options = MicroBatches(2);
    options.communicator = &communicator;
    Training run(options, R"(input x: f32[N, 2]
input t: f32[N]
param w: f32[] = zeros()
loss = mean(t) / w
minimize loss with sgd()
)");
    ASSERT_TRUE(run.trainer) << run.message;
    const std::string message = Message(run.trainer->Step().takeError());
    if (communicator.rank() == 0) {
      EXPECT_THAT(message, testing::HasSubstr("in step 1, of epoch 1"));
    } else {
      EXPECT_EQ(message, "another rank reports the error");
    }
  });
}

}  // namespace
}  // namespace pdl
