// States of optimizers that are divided over ranks.
#include <numeric>

#include "test/cc/testing/thread_communicator.h"
#include "test/cc/testing/trainer_testing.h"

namespace pdl {
namespace {

/// Gradients are used by the update of their parameter only.
const char kAdam[] = R"(input x: f32[N, 2]
input t: f32[N]
hidden = x |> fc(size=8) |> batch_norm() |> dropout(p=0.2)
y = hidden |> tanh() |> fc(size=1)
loss = mean((reshape(y, [N]) - t) ** 2)
minimize loss with adam(lr=cosine(step, from=0.05, until=100))
)";

/// All updates depend on all gradients.
std::string Clipped() {
  std::string text = kAdam;
  return text.insert(text.rfind(')'), ", clip_norm=0.5");
}

/// Steps without some updates.
const char kEvery[] = R"(input x: f32[N, 2]
input t: f32[N]
param a: f32[2] = ones()
param b: f32[2] = ones()
far = mean((sum(x * a, axes=[1]) - t) ** 2)
near = mean((sum(x * b, axes=[1]) - t) ** 2)
minimize far over a with sgd(lr=0.1, momentum=0.9)
minimize near over b with adam(lr=0.1) every 3
)";

/// The checkpoint of rank 0 after training, and the losses.
std::string Train(int ranks, const std::string& text, TrainerOptions options, int64_t rows = 50,
                  const std::string& resume = "") {
  TemporaryFolder folder;
  std::string result;
  options.micro_batch = 2;
  RunRanks(ranks, [&](Communicator& communicator) {
    TrainerOptions own = options;
    own.communicator = &communicator;
    if (communicator.rank() > 0) own.folder.clear();
    Training run(own, text, rows);
    ASSERT_TRUE(run.trainer) << run.message;
    if (!resume.empty() && communicator.rank() == 0) {
      ASSERT_EQ(Message(run.trainer->Resume(resume)), "");
    }
    std::string losses;
    TrainingCallbacks callbacks;
    callbacks.on_step = [&](const StepReport& report) {
      for (const Metric& metric : report.metrics)
        losses.append(reinterpret_cast<const char*>(&metric.value), sizeof(metric.value));
      return llvm::Error::success();
    };
    ASSERT_EQ(Message(run.trainer->Train(callbacks).takeError()), "");
    const std::string path = folder / std::to_string(communicator.rank());
    ASSERT_EQ(Message(run.trainer->Save(path)), "");
    if (communicator.rank() == 0) result = losses + ReadBytes(path);
  });
  return result;
}

TrainerOptions Sharded(int64_t epochs = 2) {
  TrainerOptions options = Options(epochs);
  options.shard_optimizer = true;
  return options;
}

TEST(Shards, HaveTheBitsOfOneProcess) {
  for (const std::string& text : {std::string(kAdam), Clipped(), std::string(kEvery)}) {
    const std::string expected = Train(1, text, Options(2));
    for (const int ranks : {1, 2, 4})
      for (const int64_t bytes : {int64_t{1}, int64_t{64}, MicroBatchStep::kBucketBytes}) {
        TrainerOptions options = Sharded();
        options.bucket_bytes = bytes;
        EXPECT_EQ(Train(ranks, text, options) == expected, true) << ranks << bytes << text;
      }
  }
}

TEST(Shards, InReducedPrecision) {
  for (const DType precision : {DType::kBF16, DType::kF16}) {
    TrainerOptions options = Options(2), sharded = Sharded();
    options.network.precision = sharded.network.precision = precision;
    EXPECT_EQ(Train(4, kAdam, sharded) == Train(1, kAdam, options), true);
  }
}

TEST(Shards, ResumeWithAnotherNumberOfRanks) {
  TemporaryFolder folder;
  TrainerOptions first = Sharded(0), second = Options(0), third = Sharded(0);
  first.steps = 5, second.steps = 9, third.steps = 14;
  first.folder = second.folder = third.folder = folder.path();
  const std::string last = folder / "last.safetensors";
  Train(4, kAdam, first);
  Train(2, kAdam, second, 50, last);
  TrainerOptions whole = Options(0);
  whole.steps = 14;
  Train(2, kAdam, third, 50, last);
  const std::string resumed = ReadBytes(last);
  TemporaryFolder other;
  whole.folder = other.path();
  Train(1, kAdam, whole);
  EXPECT_EQ(resumed == ReadBytes(other / "last.safetensors"), true);
}

TEST(Shards, ARankHasOnlyItsStates) {
  TemporaryFolder folder;
  Training alone(Options(1), kEvery);
  ASSERT_EQ(Message(alone.trainer->Save(folder / "all")), "");
  const SafetensorsFile all = Unwrap(SafetensorsFile::Open(folder / "all"));
  RunRanks(2, [&](Communicator& communicator) {
    TrainerOptions options = Sharded();
    options.micro_batch = 4;
    options.communicator = &communicator;
    Training run(options, kEvery);
    ASSERT_TRUE(run.trainer) << run.message;
    Unwrap(run.trainer->Step());
    int missing = 0;
    for (const SafetensorsFile::Entry& entry : all.entries()) {
      llvm::Expected<Tensor> value = run.trainer->ValueOf(entry.name);
      if (value) continue;
      ++missing;
      EXPECT_EQ(Message(value.takeError()), "rank " + std::to_string(1 - communicator.rank()) +
                                                " keeps the state '" + entry.name + "' [PDL0102]");
    }
    // Rank 0 keeps two states of adam, and rank 1 one of momentum.
    EXPECT_EQ(missing, communicator.rank() == 0 ? 1 : 2);
    for (const auto* name : {"a", "b"}) Unwrap(run.trainer->ValueOf(name));
  });
}

TEST(Shards, SendNoMoreThanWithout) {
  std::vector<int64_t> sent[2];
  for (const bool is_sharded : {false, true}) {
    sent[is_sharded].resize(4);
    RunRanks(4, [&](Communicator& communicator) {
      TrainerOptions options = Options(1);
      options.shard_optimizer = is_sharded;
      options.communicator = &communicator;
      Training run(options, kAdam);
      ASSERT_TRUE(run.trainer) << run.message;
      Unwrap(run.trainer->Step());
      const int64_t before = communicator.bytes_sent();
      Unwrap(run.trainer->Step());
      sent[is_sharded][static_cast<size_t>(communicator.rank())] =
          communicator.bytes_sent() - before;
    });
  }
  // The parts of a few parameters differ in size, but not their sum.
  const auto total = [](const std::vector<int64_t>& all) {
    return std::accumulate(all.begin(), all.end(), int64_t{0});
  };
  EXPECT_EQ(total(sent[0]), total(sent[1]));
  EXPECT_NE(sent[0], sent[1]);
}

TEST(Shards, Errors) {
  RunRanks(2, [&](Communicator& communicator) {
    TrainerOptions options = Sharded();
    options.average = 0.9;
    options.communicator = &communicator;
    Training run(options, kAdam);
    EXPECT_EQ(run.message, communicator.rank() == 0
                               ? "the states of optimizers cannot be sharded together with moving "
                                 "averages of the parameters [PDL0515]"
                               : "another rank reports the error");
  });
}

}  // namespace
}  // namespace pdl
