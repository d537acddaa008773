// A network that computes its updates itself, and training data.
#ifndef PDL_TEST_CC_TESTING_TRAINING_TESTING_H_
#define PDL_TEST_CC_TESTING_TRAINING_TESTING_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/op_registry.h"
#include "pdl/train/dataset.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {

/// A linear model; samples random numbers in training mode, and counts its steps.
inline const char kLine[] = R"(input x: f32[N, 2]
input t: f32[N]
state w: f32[2] = normal()
state b: f32[] = zeros()
state count: i64[] = zeros()
error = sum(dropout(x, p=0.1) * w, axes=[1]) + b - t
output loss = mean(error ** 2)
output largest = max(abs(error))
gw = 2.0 * mean(reshape(error, [N, 1]) * x, axes=[0])
gb = 2.0 * mean(error)
update w = w - 0.05 * gw
update b = b - 0.05 * gb
update count = count + 1
)";

inline Graph MakeGraph(const std::string& text) {
  CompileRequest request;
  request.training_step = true;
  request.file = std::make_shared<SourceFile>("m.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  CompileResult result = Compile(request);
  if (result.graph) return std::move(*result.graph);
  std::string mistakes;
  llvm::raw_string_ostream os(mistakes);
  result.diagnostics.Render(os);
  ADD_FAILURE() << mistakes;
  return Graph();
}

inline Tensor F32(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<float> values) {
  return Tensor::FromValues<float>(DType::kF32, sizes, values);
}
inline Tensor I64(llvm::ArrayRef<int64_t> values) {
  return Tensor::FromValues<int64_t>(DType::kI64, {static_cast<int64_t>(values.size())}, values);
}

/// Points near t = 2 x0 - x1 + 0.5.
inline std::vector<NamedTensor> LinePoints(int64_t rows, uint32_t seed = 1) {
  std::vector<float> x, t;
  uint32_t state = seed * 2654435761u + 1;
  auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int32_t>(state) >> 8) * 0x1p-23f;
  };
  for (int64_t row = 0; row < rows; ++row) {
    const float a = next(), b = next();
    x.insert(x.end(), {a, b});
    t.push_back(2 * a - b + 0.5f + 0.01f * next());
  }
  return {{"x", F32({rows, 2}, x)}, {"t", F32({rows}, t)}};
}

template <typename T>
std::vector<T> Elements(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.num_elements()};
}
inline std::string Bytes(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.num_bytes())};
}

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_TRAINING_TESTING_H_
