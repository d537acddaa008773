#ifndef PDL_TOOLS_PDL_BENCH_ONNX_RUNTIME_H_
#define PDL_TOOLS_PDL_BENCH_ONNX_RUNTIME_H_

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// An ONNX model in ONNX Runtime, in a process of Python with the package onnxruntime.
class OnnxRuntime {
 public:
  /// Starts `python`, loads the model, and feeds it the inputs of `graph` that are in `scope`, by
  /// name. An Error if Python or the package is missing, or if the model cannot be run.
  static llvm::Expected<std::unique_ptr<OnnxRuntime>> Start(llvm::StringRef python,
                                                            llvm::StringRef model, int threads,
                                                            const Graph& graph, const Scope& scope);
  ~OnnxRuntime();

  /// Runs the model repeatedly for about `seconds`, at least once; returns the time of each run in
  /// milliseconds.
  llvm::Expected<std::vector<double>> RunFor(double seconds);
  /// The version of ONNX Runtime.
  const std::string& version() const { return version_; }

 private:
  OnnxRuntime() = default;
  /// Starts the process with pipes to and from it.
  llvm::Error Spawn(const std::string& program, llvm::StringRef model, int threads);
  /// Sends the inputs. If the process has ended, so does reading its answer.
  llvm::Error WriteInputs(const Graph& graph, const Scope& scope);
  void Write(llvm::StringRef bytes);
  llvm::Expected<std::string> ReadLine();

  std::string version_;
  int process_ = -1;
  int commands_ = -1;
  FILE* answers_ = nullptr;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BENCH_ONNX_RUNTIME_H_
