// A run on a GPU can be captured as a CUDA graph: Run only launches, on the context's stream.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "cuda_testing.h"
#include "pdl/op/cuda_context.h"

namespace pdl::testing {
namespace {

TEST(CudaGraph, CallsAreCapturedAndReplayed) {
  auto created = CreateCudaContext();
  if (!created) GTEST_SKIP() << llvm::toString(created.takeError());
  auto& context = static_cast<CUDAContext&>(**created);
  CPUContext cpu;

  const auto random = [](llvm::ArrayRef<int64_t> sizes, uint64_t seed) {
    return RandomTensor(DType::kF32, sizes, seed);
  };
  // Each kind of kernel: elementwise, broadcast, a matmul with workspace, a long reduction in two
  // launches, a short one, softmax, transposed tiles, several copies, a cast.
  const std::vector<TestCall> calls = {
      {"cos", {random({1000}, 1)}, {{"scale", 5.0}}},
      {"add", {random({64, 100}, 2), random({100}, 3)}, {}},
      {"matmul", {random({64, 512}, 4), random({512, 96}, 5)}, {}},
      {"sum", {random({1 << 20}, 6)}, {}},
      {"max", {random({100, 33}, 7)}, {{"axes", std::vector<int64_t>{0}}}},
      {"softmax", {random({10, 1000}, 8)}, {}},
      {"transpose", {random({70, 130}, 9)}, {{"perm", std::vector<int64_t>{1, 0}}}},
      {"concat", {random({5, 7}, 10), random({5, 9}, 11)}, {{"axis", int64_t{1}}}},
      {"cast", {random({1000}, 12)}, {{"to", DType::kF16}}},
  };
  std::vector<std::unique_ptr<PreparedCall>> prepared;
  for (const TestCall& call : calls) {
    auto made = PreparedCall::Create(context, call);
    ASSERT_TRUE(static_cast<bool>(made)) << Describe(call) << llvm::toString(made.takeError());
    prepared.push_back(std::move(*made));
    // A kernel is loaded by its first launch, which must not be captured.
    ASSERT_FALSE(static_cast<bool>(prepared.back()->Launch()));
  }

  auto stream = reinterpret_cast<cudaStream_t>(context.stream());
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (llvm::Error error = prepared[i]->Launch())
      ADD_FAILURE() << Describe(calls[i]) << llvm::toString(std::move(error));
  }
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);

  for (int run = 0; run < 2; ++run) {
    for (auto& call : prepared) ASSERT_FALSE(static_cast<bool>(call->Reset()));
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    for (size_t i = 0; i < calls.size(); ++i) {
      auto given = prepared[i]->Outputs();
      ASSERT_TRUE(static_cast<bool>(given)) << llvm::toString(given.takeError());
      ExpectClose(calls[i], RunCall(cpu, calls[i]), *given, 1e-4);
    }
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

}  // namespace
}  // namespace pdl::testing
