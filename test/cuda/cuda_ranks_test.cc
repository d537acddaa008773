// Gradients that are added on GPUs, by one process and by ranks that are threads. The emulator's
// ranks are connected by test/cuda/nccl.
#include <gtest/gtest.h>

#include "cuda_testing.h"
#include "pdl/train/trainer.h"
#include "test/cc/testing/thread_communicator.h"
#include "test/cc/testing/training_testing.h"

namespace pdl::testing {
namespace {

const char kNetwork[] = R"(input x: f32[N, 2]
input t: f32[N]
state count: i64[] = zeros()
state seen: f64[2] = zeros()
hidden = x |> fc(size=8) |> batch_norm() |> dropout(p=0.2)
y = hidden |> tanh() |> fc(size=1)
loss = mean((reshape(y, [N]) - t) ** 2)
output largest = max(abs(t))
update count = count + 1
update seen = seen * 0.9 + 0.1 * cast(mean(x, axes=[0]), to=f64)
minimize loss with adam(lr=0.05)
)";

struct TrainingRun {
  int ranks = 1;
  TrainerOptions options;
  /// All ranks use the first GPU.
  bool shares_gpu = false;
};

/// Losses and parameters of rank 0 after training, as bytes; or the Error.
std::string Train(const TrainingRun& run) {
  std::string result;
  RunRanks(run.ranks, [&](Communicator& communicator) {
    auto context = CreateCudaContext(run.shares_gpu ? 0 : communicator.rank());
    ASSERT_TRUE(static_cast<bool>(context)) << llvm::toString(context.takeError());
    TrainerOptions options = run.options;
    options.batch_size = 12;
    options.seed = 3;
    options.epochs = 1;
    if (run.ranks > 1) options.communicator = &communicator;
    const Graph graph = MakeGraph(kNetwork);
    auto data = Dataset::FromTensors(LinePoints(26), graph);
    ASSERT_TRUE(static_cast<bool>(data)) << llvm::toString(data.takeError());
    auto trainer =
        Trainer::Create(graph, std::move(*data), options, context->get(), GlobalRegistry());
    ASSERT_TRUE(static_cast<bool>(trainer)) << llvm::toString(trainer.takeError());
    std::string own;
    TrainingCallbacks callbacks;
    callbacks.on_step = [&](const StepReport& report) {
      for (const Metric& metric : report.metrics)
        own.append(reinterpret_cast<const char*>(&metric.value), sizeof(metric.value));
      return llvm::Error::success();
    };
    auto end = (*trainer)->Train(callbacks);
    if (!end) own = llvm::toString(end.takeError());
    for (const auto* value : graph.parameters()) {
      auto tensor = (*trainer)->ValueOf(value->name());
      ASSERT_TRUE(static_cast<bool>(tensor)) << llvm::toString(tensor.takeError());
      own.append(static_cast<const char*>(tensor->raw()), static_cast<size_t>(tensor->num_bytes()));
    }
    if (communicator.rank() == 0) result = own;
  });
  return result;
}

TrainerOptions MicroBatches(int64_t rows, bool cpu_sums) {
  TrainerOptions options;
  options.micro_batch = rows;
  options.cpu_sums = cpu_sums;
  return options;
}

class CudaRanks : public ::testing::Test {
 protected:
  void SetUp() override {
    auto context = CreateCudaContext();
    if (!context) GTEST_SKIP() << llvm::toString(context.takeError());
    // The ranks are threads. Memory of a pool belongs to one GPU, so NCCL must not read it from
    // another one of the process.
    setenv("NCCL_P2P_DIRECT_DISABLE", "1", 1);
  }
};

TEST_F(CudaRanks, OneProcessHasTheBitsOfSumsOnTheCpu) {
  for (const int64_t rows : {1, 5})
    for (const DType precision : {DType::kF32, DType::kF16}) {
      TrainingRun device{1, MicroBatches(rows, false)}, cpu{1, MicroBatches(rows, true)};
      device.options.network.precision = cpu.options.network.precision = precision;
      EXPECT_EQ(Train(device) == Train(cpu), true) << rows;
    }
}

TEST_F(CudaRanks, RanksHaveTheBitsOfOneProcess) {
  const std::string expected = Train({1, MicroBatches(1, true)});
  for (int ranks = 2; ranks <= std::min(4, CountCudaDevices()); ++ranks)
    for (const bool shards : {false, true})
      for (const int64_t bucket_bytes : {int64_t{8} << 20, int64_t{64}}) {
        TrainingRun run{ranks, MicroBatches(1, false)};
        run.options.shard_optimizer = shards;
        run.options.bucket_bytes = bucket_bytes;
        EXPECT_EQ(Train(run) == expected, true) << ranks << " ranks, shards: " << shards;
      }
}

TEST_F(CudaRanks, AreConnectedIfEachHasAGpu) {
  EXPECT_NE(Unwrap(Unwrap(CreateCudaContext())->JoinRanks(nullptr)), nullptr);
  for (const int gpus : {1, 2}) {
    if (gpus > CountCudaDevices()) continue;
    RunRanks(2, [&](Communicator& communicator) {
      const auto context = Unwrap(CreateCudaContext(communicator.rank() % gpus));
      EXPECT_EQ(Unwrap(context->JoinRanks(&communicator)) != nullptr, gpus == 2);
    });
  }
}

TEST_F(CudaRanks, RanksThatShareAGpuAddOnTheCpu) {
  TrainingRun run{2, MicroBatches(1, false), true};
  EXPECT_EQ(Train(run) == Train({1, MicroBatches(1, true)}), true);
}

}  // namespace
}  // namespace pdl::testing
