// A network run on both devices, by its Plan.
#include <gtest/gtest.h>

#include "cuda_testing.h"
#include "pdl/graph.h"
#include "pdl/network.h"
#include "pdl/op_registry.h"

namespace pdl::testing {
namespace {

/// A small network: relu(x w + b), its softmax, and the sum of that over the rows.
llvm::Expected<std::shared_ptr<const Network>> MakeNetwork() {
  Graph graph;
  const auto call = [&](llvm::StringRef op, llvm::ArrayRef<Value*> operands, std::string name,
                        llvm::ArrayRef<NamedAttribute> attributes = {}) -> Value* {
    auto added = graph.AddOp(*GlobalRegistry().Find(op), operands, attributes, {name});
    if (added) return (*added)->result();
    ADD_FAILURE() << llvm::toString(added.takeError());
    return operands[0];
  };
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N"), Dim(64)}));
  Value* w = graph.AddParameter("w", Type(DType::kF32, {Dim(64), Dim(100)}), VariableInfo());
  Value* b = graph.AddParameter("b", Type(DType::kF32, {Dim(100)}), VariableInfo());
  Value* h = call("relu", {call("add", {call("matmul", {x, w}, "xw"), b}, "xwb")}, "h");
  Value* prob = call("softmax", {h}, "prob");
  Value* total = call("sum", {prob}, "total", {{"axes", std::vector<int64_t>{0}}});
  graph.AddOutput("prob", prob);
  graph.AddOutput("total", total);
  NetworkOptions options;
  options.weights["w"] = RandomTensor(DType::kF32, {64, 100}, 1, -1, 1).ToConstant();
  options.weights["b"] = RandomTensor(DType::kF32, {100}, 2).ToConstant();
  return Network::Create(std::move(graph), std::move(options), GlobalRegistry());
}

TEST(CudaNetwork, GivesTheSameOnBothDevices) {
  auto cuda = CreateCudaContext();
  if (!cuda) GTEST_SKIP() << llvm::toString(cuda.takeError());
  CPUContext cpu(0);
  auto network = MakeNetwork();
  ASSERT_TRUE(static_cast<bool>(network)) << llvm::toString(network.takeError());
  for (int64_t n : {5, 128, 5, 0, 1}) {
    std::vector<Tensor> results[2];
    DeviceContext* contexts[] = {&cpu, cuda->get()};
    for (int device = 0; device < 2; ++device) {
      Scope scope;
      scope.Create("x")->Set(RandomTensor(DType::kF32, {n, 64}, 3));
      llvm::Error error = (*network)->Run(&scope, contexts[device]);
      ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
      for (const char* name : {"prob", "total"})
        results[device].push_back(*scope.Find(name)->Get<Tensor>());
    }
    ExpectClose({"network", {}, {}}, results[0], results[1], 1e-4);
  }
}

}  // namespace
}  // namespace pdl::testing
