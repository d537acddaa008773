// A host of a ReplSession that runs networks and reads files, for programs without a terminal of
// their own.
// Module: model
#ifndef PDL_COMPILER_REPL_HOST_H_
#define PDL_COMPILER_REPL_HOST_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pdl/compiler/export.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/repl.h"
#include "pdl/op/device.h"
#include "pdl/op/device_context.h"

namespace pdl {

/// Runs networks on a device, samples values, and reads and writes files relative to a folder: the
/// working directory, or that of the file loaded last. Not thread-safe.
class PDL_API NetworkReplHost : public ReplHost {
 public:
  struct Options {
    uint64_t seed = 0;
    /// Of CPU contexts; 0: as many as the machine has.
    int threads = 0;
    /// Runs are training runs also when the session does not ask for one.
    bool training = false;
  };
  NetworkReplHost(Options options, std::unique_ptr<DeviceContext> context);

  /// Ends a run with the message "interrupted; …" once `*cancelled` is true. It must outlive the
  /// runs; null: runs are not interrupted.
  void CancelBy(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }

  /// The registry, the standard layers, and readers of the files that statements name.
  CompileRequest Request();

  llvm::Expected<std::vector<PackedConstant>> Run(Graph graph,
                                                  const llvm::StringMap<PackedConstant>& inputs,
                                                  bool training) override;
  /// As TensorToString, in lines of Width().
  std::string Print(const PackedConstant& value) override;
  llvm::Expected<PackedConstant> Draw(const Value& variable, SizeOfSymbol size) override;
  llvm::Expected<std::string> ReadFile(llvm::StringRef path) override;
  llvm::Error WriteFile(llvm::StringRef path, llvm::StringRef text) override;
  std::string UseFolderOf(llvm::StringRef path) override;
  std::vector<std::string> ListFiles(llvm::StringRef typed, bool of_statement) override;
  llvm::Error SetDevice(llvm::StringRef name) override;
  std::string DeviceName() override;
  std::optional<Diagnostic> DiagnosticOf(const llvm::ErrorInfoBase& error) override;

 private:
  llvm::Expected<std::vector<PackedConstant>> RunUntilCancelled(
      Graph graph, const llvm::StringMap<PackedConstant>& inputs, bool training);

  Options options_;
  std::unique_ptr<DeviceContext> context_;
  /// The folder of the files that statements refer to.
  std::string folder_ = ".";
  WeightFiles weights_;
  const std::atomic<bool>* cancelled_ = nullptr;
  uint64_t num_sampled_ = 0;
};

}  // namespace pdl

#endif  // PDL_COMPILER_REPL_HOST_H_
