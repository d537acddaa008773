#include "runtime/distributed/device_sum.h"

#include <cmath>

#include "pdl/compiler/pipeline.h"
#include "pdl/op/error.h"
#include "pdl/train/micro_batches.h"
#include "test/cc/testing/host_ranks.h"
#include "test/cc/testing/thread_communicator.h"
#include "test/cc/testing/training_testing.h"

namespace pdl {
namespace {

constexpr size_t kF32 = 700, kF64 = 90;

/// Numbers of very different sizes, whose sum depends on the order of the additions.
TreeValues DeviceLeafOf(int64_t leaf) {
  TreeValues values;
  for (size_t i = 0; i < kF32; ++i)
    values.f32.push_back(
        std::sin(static_cast<float>(leaf * 7) + static_cast<float>(i)) *
        std::pow(10.0f, static_cast<float>((static_cast<size_t>(leaf) * 5 + i) % 9)));
  for (size_t i = 0; i < kF64; ++i)
    values.f64.push_back(std::cos(static_cast<double>(leaf * 3) + static_cast<double>(i)));
  return values;
}

llvm::Error PutLeaf(DeviceSum& sum, DeviceRanks& device, const TreeValues& values) {
  if (llvm::Error error = sum.BeginLeaf()) return error;
  const auto put = [&](const auto& from, auto* to) -> llvm::Error {
    if (from.empty()) return llvm::Error::success();
    return device.Copy(to, from.data(), from.size() * sizeof(from[0]));
  };
  if (llvm::Error error = put(values.f32, sum.leaf().f32())) return error;
  if (llvm::Error error = put(values.f64, sum.leaf().f64())) return error;
  return sum.AddLeaf();
}

TEST(DeviceSum, HasTheBitsOfTheSumOnTheHost) {
  for (const int64_t leaves : {1, 2, 3, 5, 8, 13})
    for (const int ranks : {1, 2, 3, 4}) {
      RunRanks(ranks, [&](Communicator& communicator) {
        SumLayout layout{{kF32 - 30, kF64 - 8}, {}};
        for (int rank = 0; rank < ranks; ++rank)
          layout.own.push_back({rank + 1 == ranks ? 30 - static_cast<size_t>(rank) * 7 : 7,
                                rank + 1 == ranks ? 8 - static_cast<size_t>(rank) * 2 : 2});
        const MicroBatchRange range = MicroBatchesOf(leaves, communicator.rank(), ranks);
        HostRanks device(&communicator);
        TreeSum host(range.begin);
        DeviceSum sum(device, layout, range.begin, leaves);
        for (int64_t leaf = range.begin; leaf < range.end; ++leaf) {
          host.AddLeaf(DeviceLeafOf(leaf));
          EXPECT_EQ(Message(PutLeaf(sum, device, DeviceLeafOf(leaf))), "");
        }
        EXPECT_EQ(Message(sum.Start()), "");
        EXPECT_EQ(Message(device.Finish()), "");
        SumNote note;
        const TreeValues expected =
            Unwrap(SumOverRanks(std::move(host), leaves, layout, communicator, &note));
        const DeviceValues& total = sum.total();
        EXPECT_EQ(
            std::vector<float>(total.f32(), total.f32() + expected.f32.size()) == expected.f32,
            true)
            << leaves << " leaves, " << ranks << " ranks";
        EXPECT_EQ(
            std::vector<double>(total.f64(), total.f64() + expected.f64.size()) == expected.f64,
            true);
      });
    }
}

TEST(DeviceSum, SendsNoMoreThanTheBound) {
  constexpr int64_t kElements = 1 << 16;
  for (const int ranks : {1, 2, 4})
    RunRanks(ranks, [&](Communicator& communicator) {
      HostRanks device(&communicator);
      const SumLayout layout{{kElements, 0}, {}};
      DeviceSum sum(device, layout, 2 * communicator.rank(), 2 * ranks);
      const TreeValues leaf{std::vector<float>(kElements, 1.0f), {}};
      for (int i = 0; i < 2; ++i) EXPECT_EQ(Message(PutLeaf(sum, device, leaf)), "");
      EXPECT_EQ(Message(sum.Start()), "");
      EXPECT_EQ(sum.total().f32()[kElements - 1], 2.0f * static_cast<float>(ranks));
      EXPECT_EQ(device.bytes_sent(), 2 * (ranks - 1) * kElements * 4 / ranks);
    });
}

/// A step of a network whose gradients are f32 and f64.
std::shared_ptr<const MicroBatchStep> MakeStep(int64_t bucket_bytes) {
  const Graph graph = MakeGraph(R"(input x: f32[N, 2]
input t: f32[N]
state seen: f64[2] = zeros()
y = x |> fc(size=8, act=tanh()) |> fc(size=1)
loss = mean((reshape(y, [N]) - t) ** 2)
update seen = seen * 0.9 + 0.1 * cast(mean(x, axes=[0]), to=f64)
minimize loss with adam(lr=0.05)
)");
  Graph step = graph.Clone();
  PassContext passes{GlobalRegistry()};
  const unsigned active[] = {0};
  passes.active = active;
  EXPECT_EQ(Message(StepPipeline().Run(step, passes)), "");
  MicroBatchStep::Properties properties;
  properties.metrics = {"loss"};
  properties.bucket_bytes = bucket_bytes;
  return Unwrap(MicroBatchStep::Create(step, properties, {}, GlobalRegistry()));
}

/// Runs a step with micro-batches of one row.
llvm::Expected<MicroBatchStep::Result> RunStep(const MicroBatchStep& step, int64_t number,
                                               int64_t rows, Communicator* ranks,
                                               DeviceRanks* device, Scope& scope) {
  CPUContext context(1);
  MicroBatchStep::Batch batch;
  batch.step = number;
  batch.parts = {rows, 1};
  batch.communicator = ranks;
  batch.device_ranks = device;
  batch.run.training = true;
  const auto put = [&](int64_t leaf) {
    const auto row = static_cast<float>(leaf);
    scope.Create("x")->Set(F32({1, 2}, {std::sin(row), 3 * std::cos(row)}));
    scope.Create("t")->Set(F32({1}, {std::sin(7 * row)}));
    return llvm::Error::success();
  };
  batch.put = put;
  return step.Run(batch, &scope, &context);
}

/// The states after two steps of five rows, as bytes.
std::string StatesAfterSteps(const MicroBatchStep& step, Communicator* ranks, DeviceRanks* device) {
  Scope scope;
  std::string bytes;
  for (const int64_t number : {1, 2}) {
    const auto result = Unwrap(RunStep(step, number, 5, ranks, device, scope));
    bytes += std::to_string(result.metrics[0]) + " ";
  }
  for (const auto* state : step.update().graph().states())
    bytes += Bytes(*scope.Find(state->name())->Get<Tensor>());
  return bytes;
}

TEST(DeviceSum, AStepHasTheBitsOfSumsOnTheHost) {
  for (const int64_t bucket_bytes : {1, 100, 1 << 20}) {
    const auto made = MakeStep(bucket_bytes);
    const std::string expected = StatesAfterSteps(*made, nullptr, nullptr);
    HostRanks one(nullptr);
    EXPECT_EQ(StatesAfterSteps(*made, nullptr, &one) == expected, true) << bucket_bytes;
    for (const int ranks : {2, 3, 4, 7})
      RunRanks(ranks, [&](Communicator& communicator) {
        HostRanks device(&communicator);
        EXPECT_EQ(StatesAfterSteps(*made, &communicator, &device) == expected, true)
            << bucket_bytes << " bytes, " << ranks << " ranks";
        EXPECT_EQ(device.num_cancels, 0);
        if (communicator.rank() == 0) {
          EXPECT_GT(device.bytes_sent(), 0);
        }
      });
  }
}

/// Runs out of memory after a number of allocations.
class SmallRanks : public HostRanks {
 public:
  SmallRanks(Communicator& ranks, int allocations) : HostRanks(&ranks), left_(allocations) {}
  llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) override {
    if (left_-- == 0) return MakeDeviceError("no memory");
    return HostRanks::Allocate(bytes);
  }

 private:
  int left_;
};

TEST(DeviceSum, AFailedStepCancelsItsExchanges) {
  const auto made = MakeStep(1);
  bool fails = true, has_cancelled = false;
  for (int allocations = 0; fails; ++allocations) {
    ASSERT_LT(allocations, 1000);
    // All ranks fail at the same allocation.
    RunRanks(2, [&](Communicator& communicator) {
      SmallRanks device(communicator, allocations);
      Scope scope;
      auto result = RunStep(*made, 1, 4, &communicator, &device, scope);
      const bool is_first = communicator.rank() == 0;
      if (result) {
        EXPECT_EQ(device.num_cancels, 0);
        if (is_first) fails = false;
        return;
      }
      EXPECT_EQ(Message(result.takeError()), "no memory");
      if (device.bytes_sent() == 0) return;
      EXPECT_EQ(device.num_cancels, 1) << allocations;
      if (is_first) has_cancelled = true;
    });
  }
  EXPECT_TRUE(has_cancelled);
}

TEST(DeviceSum, NoValues) {
  RunRanks(2, [&](Communicator& communicator) {
    HostRanks device(&communicator);
    const SumLayout layout{};
    DeviceSum sum(device, layout, communicator.rank(), 2);
    EXPECT_EQ(Message(PutLeaf(sum, device, {})), "");
    EXPECT_EQ(Message(sum.Start()), "");
    EXPECT_EQ(device.bytes_sent(), 0);
  });
}

}  // namespace
}  // namespace pdl
