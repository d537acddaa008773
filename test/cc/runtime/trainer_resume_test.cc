// Resuming of training runs, and errors.
#include <cmath>

#include "pdl/op/error.h"
#include "test/cc/testing/trainer_testing.h"

namespace pdl {
namespace {

TEST(Resume, ResumesBitForBitFromAnyStep) {
  TemporaryFolder folder;
  Training whole(Options(3, folder.path()));
  ASSERT_TRUE(whole.trainer) << whole.message;
  EXPECT_EQ(Unwrap(whole.trainer->Train()), TrainingEnd::kDone);
  const std::string last = ReadBytes(folder / "last.safetensors");
  const std::string best = ReadBytes(folder / "best.safetensors");
  for (int64_t step = 0; step <= 21; ++step) {
    TemporaryFolder parted;
    Training first(Options(3, parted.path()));
    std::atomic<bool> stop = step == 0;
    TrainingCallbacks callbacks;
    callbacks.stop = &stop;
    callbacks.on_step = [&](const StepReport& report) {
      stop = report.step == step;
      return llvm::Error::success();
    };
    ASSERT_EQ(Unwrap(first.trainer->Train(callbacks)),
              step == 21 ? TrainingEnd::kDone : TrainingEnd::kStopped);
    Training second(Options(3, parted.path()));
    ASSERT_EQ(Message(second.trainer->Resume(parted / "last.safetensors")), "");
    EXPECT_TRUE(second.trainer->warnings().empty());
    EXPECT_EQ(second.trainer->step(), step);
    EXPECT_EQ(Unwrap(second.trainer->Train()), TrainingEnd::kDone);
    EXPECT_EQ(Result(*second.trainer), Result(*whole.trainer)) << step;
    EXPECT_EQ(ReadBytes(parted / "last.safetensors"), last) << step;
    EXPECT_EQ(ReadBytes(parted / "best.safetensors"), best) << step;
  }
}

TEST(Resume, CheckpointsOfSomethingElse) {
  TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  Training run(Options(1));
  ASSERT_TRUE(run.trainer) << run.message;
  ASSERT_EQ(Message(run.trainer->Step()), "");
  ASSERT_EQ(Message(run.trainer->Save(path)), "");
  auto complaint = [&](TrainerOptions options, std::string text = kLine, int64_t rows = 50) {
    Training other(std::move(options), text, rows);
    EXPECT_EQ(other.message, "");
    std::string message = Message(other.trainer->Resume(path));
    llvm::StringRef rest = message;
    rest.consume_front("'" + path + "' is the checkpoint of another ");
    rest.consume_back(" [PDL0516]");
    return rest.str();
  };
  auto edited = [](llvm::StringRef from, llvm::StringRef to) {
    std::string text = kLine;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_EQ(complaint(Options(1)), "");
  EXPECT_EQ(complaint(Options(1), edited("state b: f32[] = zeros()",
                                         "state b: f32[] = zeros()\nstate c: f32[3] = zeros()")),
            "network: it has no 'c': f32[3]");
  EXPECT_EQ(complaint(Options(1), edited("update count", "#")), "");
  std::string without = edited("state count: i64[] = zeros()\n", "");
  without.erase(without.find("update count"));
  EXPECT_EQ(complaint(Options(1), without), "network: it has 'count': i64[]");
  std::string wide = edited("state count: i64[]", "state count: i64[2]");
  EXPECT_EQ(complaint(Options(1), wide), "network: 'count' is i64[] there and i64[2] here");
  EXPECT_EQ(complaint(Options(1), kLine, 51),
            "run, which cannot be resumed here: the data have 50 rows there and 51 here");
  TrainerOptions options = Options(1);
  options.seed = 4;
  options.batch_size = 9;
  EXPECT_EQ(
      complaint(options),
      "run, which cannot be resumed here: the seed is 3 there and 4 here; a batch has 8 rows there "
      "and 9 here");
  options = Options(1);
  options.shuffle = false;
  options.drop_last = true;
  EXPECT_EQ(
      complaint(options),
      "run, which cannot be resumed here: the rows are shuffled there but not here; short batches "
      "are left out here but not there");
  EXPECT_EQ(complaint(Options(1), edited("output largest = max(abs(error))\n", "")),
            "network: it has 2 losses and metrics there and 1 here");
  // A different learning rate makes a different network; resuming is allowed, with a warning.
  Training slow(Options(1), edited("0.05 * gb", "0.01 * gb"));
  ASSERT_EQ(Message(slow.trainer->Resume(path)), "");
  ASSERT_EQ(slow.trainer->warnings().size(), 1u);
  EXPECT_EQ(slow.trainer->warnings()[0],
            "the network has changed since '" + path +
                "' was written; its parameters and states are the same, so the run continues");
}

TEST(Resume, WhatIsNotTrainedIsInTheCheckpointToo) {
  TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  std::string text = kLine;
  text.insert(text.find("error = "), "param k: f32[] = ones()\n");
  text.replace(text.find("+ b - t"), 7, "+ k * b - t");
  TrainerOptions options = Options(2);
  options.network.weights["k"] = Constant::Scalar(DType::kF32, 2);
  Training first(options, text), whole(options, text), second(Options(2), text);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Message(first.trainer->Step()), "");
  ASSERT_EQ(Message(first.trainer->Save(path)), "");
  ASSERT_EQ(Message(second.trainer->Resume(path)), "");
  EXPECT_EQ(Elements<float>(Unwrap(second.trainer->ValueOf("k")))[0], 2);
  EXPECT_EQ(Unwrap(second.trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(Unwrap(whole.trainer->Train()), TrainingEnd::kDone);
  EXPECT_EQ(Result(*second.trainer), Result(*whole.trainer));
}

TEST(Resume, BrokenCheckpoints) {
  TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  Training run(Options(1));
  ASSERT_TRUE(run.trainer) << run.message;
  ASSERT_EQ(Message(run.trainer->Save(path)), "");
  const std::string bytes = ReadBytes(path);
  for (size_t size : {size_t{0}, size_t{7}, size_t{100}, bytes.size() - 1}) {
    WriteBytes(path, bytes.substr(0, size));
    EXPECT_EQ(Message(run.trainer->Resume(path)).substr(0, 11), "cannot read") << size;
  }
  std::string wrong = bytes;
  wrong.replace(wrong.find("stale"), 5, "stole");
  WriteBytes(path, wrong);
  EXPECT_EQ(Message(run.trainer->Resume(path)),
            "cannot read '" + path + "': its metadata 'pdl.progress' is broken [PDL0401]");
  for (const auto& [version, message] : std::vector<std::pair<std::string, std::string>>{
           {"2", "'" + path +
                     "' is a checkpoint of format version 2, but this version of pdl reads 1 "
                     "[PDL0516]"},
           {"x", "cannot read '" + path +
                     "': its metadata 'pdl.checkpoint_version' is broken [PDL0401]"}}) {
    wrong = bytes;
    wrong.replace(wrong.find("_version\":\"1\"") + 11, 1, version);
    WriteBytes(path, wrong);
    EXPECT_EQ(Message(run.trainer->Resume(path)), message);
  }
  ASSERT_EQ(Message(WriteSafetensors(path, {{"w", F32({2}, {0, 0})}})), "");
  EXPECT_EQ(
      Message(run.trainer->Resume(path)),
      "'" + path +
          "' is not a checkpoint: it has tensors, but no metadata about the progress of a run "
          "[PDL0516]");
  EXPECT_EQ(Message(run.trainer->Resume(folder / "nothing")),
            "cannot read '" + (folder / "nothing") + "': No such file or directory [PDL0401]");
}

/// Monitors a metric other than the loss, which decreases while the loss decreases.
constexpr char kWatched[] = R"(input x: f32[N, 2]
input t: f32[N]
state w: f32[2] = normal()
state b: f32[] = zeros()
state count: i64[] = zeros()
error = sum(x * w, axes=[1]) + b - t
output loss = mean(error ** 2)
output largest = max(abs(error))
output odd = (b - b) / (b - b)
update w = w - 0.1 * mean(reshape(error, [N, 1]) * x, axes=[0])
update b = b - 0.1 * mean(error)
update count = count + 1
)";

TrainerOptions Watching(int64_t epochs, const std::string& folder, llvm::StringRef monitor,
                        bool largest = true) {
  TrainerOptions options = Options(epochs, folder);
  options.monitor = (monitor + (largest ? ":max" : ":min")).str();
  return options;
}

void SetPoints(Training* run, const char* text, int64_t rows, uint32_t seed) {
  run->trainer->SetValidation(
      Unwrap(Dataset::FromTensors(LinePoints(rows, seed), MakeGraph(text))));
}

TEST(Resume, WhatSaysWhichEpochIsBestIsAsItWas) {
  TemporaryFolder folder, other;
  const std::string last = folder / "last.safetensors";
  // It decreases, so that the first epoch is the best one.
  Training first(Watching(2, folder.path(), "largest"), kWatched);
  ASSERT_TRUE(first.trainer) << first.message;
  ASSERT_EQ(Message(first.trainer->Train()), "");
  Training whole(Watching(4, other.path(), "largest"), kWatched);
  ASSERT_EQ(Message(whole.trainer->Train()), "");
  Training second(Options(4, folder.path()), kWatched);
  ASSERT_EQ(Message(second.trainer->Resume(last)), "");
  EXPECT_TRUE(second.trainer->warnings().empty());
  ASSERT_EQ(Message(second.trainer->Train()), "");
  for (const char* file : {"last.safetensors", "best.safetensors"})
    EXPECT_EQ(ReadBytes(folder / file), ReadBytes(other / file)) << file;
  // With different options, resuming warns.
  Training third(Watching(5, folder.path(), "largest", false), kWatched);
  ASSERT_EQ(Message(third.trainer->Resume(last)), "");
  ASSERT_EQ(third.trainer->warnings().size(), 1u);
  EXPECT_EQ(third.trainer->warnings()[0],
            "up to '" + last +
                "' 'largest' (larger is better) of the training data selected the best epoch, but "
                "'largest' of the training data does from now on: the search for the best epoch "
                "restarts, and best.safetensors will be replaced");
  // A metric that the network does not have any more.
  std::string renamed = kWatched;
  renamed.replace(renamed.find("largest"), 7, "most");
  Training fourth(Options(5, folder.path()), renamed);
  ASSERT_EQ(Message(fourth.trainer->Resume(last)), "");
  ASSERT_EQ(fourth.trainer->warnings().size(), 2u);
  EXPECT_EQ(fourth.trainer->warnings()[1].substr(fourth.trainer->warnings()[1].find(", but ")),
            ", but 'loss' of the training data does from now on: the search for the best epoch "
            "restarts, and best.safetensors will be replaced");
}

TEST(Resume, TheBestEpochIsToldByTheSameData) {
  TemporaryFolder folder;
  const std::string last = folder / "last.safetensors";
  Training first(Options(2, folder.path()), kWatched);
  ASSERT_EQ(Message(first.trainer->Train()), "");
  // From the training data to other data: applies from now on.
  Training second(Options(3, folder.path()), kWatched);
  SetPoints(&second, kWatched, 20, 2);
  ASSERT_EQ(Message(second.trainer->Resume(last)), "");
  ASSERT_EQ(second.trainer->warnings().size(), 1u);
  EXPECT_EQ(second.trainer->warnings()[0],
            "up to '" + last +
                "' 'loss' of the training data selected the best epoch, but 'loss' of the "
                "validation data does from now on: the search for the best epoch restarts, and "
                "best.safetensors will be replaced");
  ASSERT_EQ(Message(second.trainer->Train()), "");
  const std::string best = ReadBytes(folder / "best.safetensors");
  // The same data again.
  Training third(Options(3, folder.path()), kWatched);
  SetPoints(&third, kWatched, 20, 2);
  ASSERT_EQ(Message(third.trainer->Resume(last)), "");
  EXPECT_TRUE(third.trainer->warnings().empty());
  Training fourth(Options(4, folder.path()), kWatched);
  SetPoints(&fourth, kWatched, 20, 3);
  ASSERT_EQ(Message(fourth.trainer->Resume(last)), "");
  ASSERT_EQ(fourth.trainer->warnings().size(), 1u);
  EXPECT_NE(fourth.trainer->warnings()[0].find("but other validation data does"),
            std::string::npos);
  // No validation data any more.
  Training fifth(Options(4, folder.path()), kWatched);
  EXPECT_EQ(
      Message(fifth.trainer->Resume(last)),
      "'" + last +
          "' is the checkpoint of another run, which cannot be resumed here: its best epoch was "
          "selected by validation data, but none are given here [PDL0516]");
  EXPECT_EQ(ReadBytes(folder / "best.safetensors"), best);
}

TEST(Resume, OtherDataOfAsManyRows) {
  TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  Training run(Options(1));
  ASSERT_EQ(Message(run.trainer->Save(path)), "");
  const Graph graph = MakeGraph(kLine);
  std::vector<NamedTensor> points = LinePoints(50);
  points[1] = LinePoints(50, 2)[1];
  auto trainer = Unwrap(Trainer::Create(graph, Unwrap(Dataset::FromTensors(points, graph)),
                                        Options(1), &run.context, GlobalRegistry()));
  EXPECT_EQ(
      Message(trainer->Resume(path)),
      "'" + path +
          "' is the checkpoint of another run, which cannot be resumed here: the data of 't' are "
          "not the same there and here [PDL0516]");
  // Files of earlier versions do not contain it.
  std::string bytes = ReadBytes(path);
  for (llvm::StringRef key : {"\\\"data\\\"", "\\\"validation\\\"", "\\\"weights\\\""}) {
    const size_t at = bytes.find(key);
    ASSERT_NE(at, std::string::npos) << key.str();
    bytes[at + 2] = '_';
  }
  WriteBytes(path, bytes);
  EXPECT_EQ(Message(trainer->Resume(path)), "");
  EXPECT_TRUE(trainer->warnings().empty());
}

TEST(Resume, WeightsToBeginWith) {
  TemporaryFolder folder;
  const std::string path = folder / "c.safetensors", plain = folder / "plain.safetensors";
  auto with = [](float b) {
    TrainerOptions options = Options(1);
    options.network.weights["b"] = Constant::Scalar(DType::kF32, b);
    return options;
  };
  Training first(with(2)), without(Options(1)), again(with(2)), other(with(3));
  ASSERT_EQ(Message(first.trainer->Save(path)), "");
  ASSERT_EQ(Message(without.trainer->Save(plain)), "");
  EXPECT_EQ(Message(without.trainer->Resume(path)), "");
  EXPECT_EQ(Message(again.trainer->Resume(path)), "");
  EXPECT_EQ(
      Message(other.trainer->Resume(path)),
      "'" + path +
          "' is the checkpoint of another run, which cannot be resumed here: it began from other "
          "weights than those given here [PDL0516]");
  EXPECT_EQ(
      Message(other.trainer->Resume(plain)),
      "'" + plain +
          "' is the checkpoint of another run, which cannot be resumed here: it began without the "
          "weights given here [PDL0516]");
}

TEST(Resume, AMetricThatIsNoNumberIsTold) {
  TemporaryFolder folder;
  Training run(Watching(3, folder.path(), "odd"), kWatched);
  ASSERT_TRUE(run.trainer) << run.message;
  std::vector<std::string> warnings;
  TrainingCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochReport& report) {
    EXPECT_FALSE(report.is_best);
    warnings.push_back(report.warning);
    return llvm::Error::success();
  };
  ASSERT_EQ(Message(run.trainer->Train(callbacks)), "");
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "'odd', which selects the best epoch, is nan after epoch 1: no epoch is "
                          "the best until it is finite, and best.safetensors is not written",
                          "", ""}));
}

}  // namespace
}  // namespace pdl
