#ifndef PDL_TEST_CC_TESTING_NETWORK_TESTING_H_
#define PDL_TEST_CC_TESTING_NETWORK_TESTING_H_

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"
#include "pdl/runtime/network.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {

/// The network of a source file "m.pdl"; an error fails the test.
inline std::shared_ptr<const Network> MakeNetwork(const std::string& text,
                                                  NetworkOptions options = {}) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", text);
  request.registry = &GlobalRegistry();
  CompileResult result = Compile(request);
  if (!result.graph) {
    std::string mistakes;
    llvm::raw_string_ostream os(mistakes);
    result.diagnostics.Render(os);
    ADD_FAILURE() << mistakes;
    return nullptr;
  }
  return Unwrap(Network::Create(std::move(*result.graph), std::move(options), GlobalRegistry()));
}

inline Tensor F32(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<float> values) {
  return Tensor::FromValues<float>(DType::kF32, sizes, values);
}

/// Deterministic pseudorandom numbers in [-1, 1).
inline Tensor Noise(llvm::ArrayRef<int64_t> sizes, uint32_t seed = 1) {
  size_t count = 1;
  for (int64_t size : sizes) count *= static_cast<size_t>(size);
  std::vector<float> values(count);
  uint32_t x = seed * 2654435761u + 1;
  for (float& value : values) {
    x = x * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(x) >> 8) * 0x1p-23f;
  }
  return F32(sizes, values);
}

inline void Feed(Scope& scope, const std::string& name, Tensor tensor) {
  scope.Create(name)->Set(std::move(tensor));
}

inline llvm::Error RunOnce(const Network& network, Scope& scope, const RunOptions& options = {}) {
  CPUContext context;
  return network.Run(&scope, &context, options);
}

/// `pdl dump --emit=plan`.
inline std::string PlanOf(const Network& network, const RunOptions& options = {},
                          const llvm::StringMap<int64_t>& sizes = {}) {
  CPUContext context(1);
  return Unwrap(network.DescribePlan(&context, options, sizes));
}

/// The tensor with that name in the scope, printed; "nothing" if there is none.
inline std::string Printed(const Scope& scope, const std::string& name) {
  const Variable* variable = scope.Find(name);
  const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
  return tensor ? TensorToString(*tensor) : "nothing";
}

/// The bytes of a tensor of the scope.
inline std::string Bytes(const Scope& scope, const std::string& name) {
  const Variable* variable = scope.Find(name);
  const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
  if (!tensor) return "nothing";
  return {static_cast<const char*>(tensor->raw()), static_cast<size_t>(tensor->num_bytes())};
}

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_NETWORK_TESTING_H_
