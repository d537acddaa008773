// A planned network on both devices.
#include <gtest/gtest.h>

#include "cuda_testing.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/network.h"

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

/// Loops over a padded batch with lengths, over packed rows, and along the first axis.
TEST(CudaNetwork, LoopsGiveTheSameOnBothDevices) {
  auto cuda = CreateCudaContext();
  if (!cuda) GTEST_SKIP() << llvm::toString(cuda.takeError());
  CPUContext cpu(0);
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("loops.pdl", R"(
input x: f32[N, T, 6]
input lengths: i64[N]
input rows: f32[R, 3]
input offsets: i64[M]
layer decay(x: F[...], h: F[...]) {
  next = x + 0.5 * h
  return h=next, y=next
}
a, a_last, a_cell = lstm(x, lengths=lengths, size=5)
b, b_last = gru(x, lengths=lengths, size=5, reverse=true)
c, c_last = segment_scan(rows, init=ones([M - 1, 3]), offsets=offsets, reverse=true, body=decay())
d, d_last = scan(x, init=zeros([T, 6]), axis=0, body=decay())
e = scan(x, init=zeros([N, T]), axis=2, body=add())
output a, a_last, a_cell, b, b_last, c, c_last, d, d_last, e
)");
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  CompileResult compiled = Compile(request);
  ASSERT_TRUE(compiled.graph.has_value());
  auto network = Network::Create(std::move(*compiled.graph), {}, GlobalRegistry());
  ASSERT_TRUE(static_cast<bool>(network)) << llvm::toString(network.takeError());
  const int64_t lengths[] = {4, 0, 7, 1}, offsets[] = {0, 3, 3, 10};
  const char* const names[] = {"a", "a_last", "a_cell", "b",      "b_last",
                               "c", "c_last", "d",      "d_last", "e"};
  std::vector<Tensor> results[2];
  DeviceContext* contexts[] = {&cpu, cuda->get()};
  for (int device = 0; device < 2; ++device) {
    Scope scope;
    scope.Create("x")->Set(RandomTensor(DType::kF32, {4, 7, 6}, 3));
    scope.Create("rows")->Set(RandomTensor(DType::kF32, {10, 3}, 4));
    scope.Create("lengths")->Set(Tensor::FromValues<int64_t>(DType::kI64, {4}, lengths));
    scope.Create("offsets")->Set(Tensor::FromValues<int64_t>(DType::kI64, {4}, offsets));
    llvm::Error error = (*network)->Run(&scope, contexts[device]);
    ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
    for (const char* name : names) results[device].push_back(*scope.Find(name)->Get<Tensor>());
  }
  ExpectClose({"scan", {}, {}}, results[0], results[1], 1e-4);
}

}  // namespace
}  // namespace pdl::testing
