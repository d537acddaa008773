#ifndef PDL_TOOLS_PDL_TEST_SCOPE_H_
#define PDL_TOOLS_PDL_TEST_SCOPE_H_

#include <memory>
#include <string>
#include <vector>

#include "pdl/compiler/test_block.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// Adds the names that an output of `type` has in a graph which may have it as a value or in parts.
void AddPartNames(llvm::StringRef output, const Type& type, std::vector<std::string>* names);

/// Where the runs of one test happen, one after another.
class TestScope {
 public:
  TestScope(NetworkOptions options, DeviceContext* context)
      : options_(std::move(options)), context_(context) {}

  /// The network with these outputs alone, and with the updates where `keeps_updates`.
  llvm::Expected<std::shared_ptr<const Network>> Part(const Graph& graph,
                                                      llvm::ArrayRef<std::string> outputs,
                                                      bool keeps_updates) const;
  /// Computes what a run is fed, and puts it into the Scope.
  llvm::Error Feed(const TestRun& run);
  llvm::Error Run(const Network& network, const RunOptions& options) {
    return network.Run(&scope_, context_, options);
  }

  /// What a run left under that name; null where there is nothing.
  const Tensor* Find(llvm::StringRef name) const;
  llvm::Expected<PackedValue> FindPacked(llvm::StringRef name, const Type& type) const {
    return PackedValue::Find(scope_, name, type);
  }

  /// Keeps what `run`, which was the last, has computed for later runs; `values` is for
  /// CompileTest.
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
