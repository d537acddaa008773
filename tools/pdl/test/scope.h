#ifndef PDL_TOOLS_PDL_TEST_SCOPE_H_
#define PDL_TOOLS_PDL_TEST_SCOPE_H_

#include <memory>
#include <string>
#include <vector>

#include "pdl/compiler/test_block.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// Adds the names of an output of `type` in a graph that may return it as one value or in parts.
void AddPartNames(llvm::StringRef output, const Type& type, std::vector<std::string>* names);

/// The outputs of `run.graph` that a run without errors computes: what it expects, and the values
/// that later runs read.
std::vector<std::string> OutputsOf(const TestRun& run);

/// Executes the runs of one test, one after another.
class TestScope {
 public:
  TestScope(NetworkOptions options, DeviceContext* context)
      : options_(std::move(options)), context_(context) {}

  /// The network with only these outputs, and with the updates if `keeps_updates`.
  llvm::Expected<std::shared_ptr<const Network>> Part(const Graph& graph,
                                                      llvm::ArrayRef<std::string> outputs,
                                                      bool keeps_updates) const;
  /// Computes the fed values of a run and puts them into the Scope.
  llvm::Error Feed(const TestRun& run);
  llvm::Error Run(const Network& network, const RunOptions& options) {
    return network.Run(&scope_, context_, options);
  }

  /// The result of a run under that name; null if there is none.
  const Tensor* Find(llvm::StringRef name) const;
  llvm::Expected<PackedValue> FindPacked(llvm::StringRef name, const Type& type) const {
    return PackedValue::Find(scope_, name, type);
  }

  /// Keeps the results of `run`, the last one, for later runs; `values` is for CompileTest.
  [[nodiscard]] llvm::Error Keep(const TestRun& run);
  llvm::ArrayRef<TestValue> values() const { return values_; }

 private:
  NetworkOptions options_;
  DeviceContext* context_;
  Scope scope_;
  std::vector<TestValue> values_;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TEST_SCOPE_H_
