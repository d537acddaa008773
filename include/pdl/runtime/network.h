#ifndef PDL_RUNTIME_NETWORK_H_
#define PDL_RUNTIME_NETWORK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/memory_report.h"
#include "pdl/runtime/scope.h"

namespace pdl {

class PassObserver;
class OutputObserver;
class RunObserver;

/// Options for creating a Network from a Graph.
struct NetworkOptions {
  /// Seed of initializers and random operators.
  uint64_t seed = 0;
  /// Run the optional optimization passes (see "pdl/compiler/pipeline.h").
  bool optimize = true;
  /// Form fused groups of elementwise calls.
  bool fuse = true;
  /// The dtype that f32 matmul, convolutions and attention are computed in: kF32, or kF16 or kBF16
  /// (mixed precision, see ReducePrecision). Parameters, states and outputs keep their
  /// types.
  DType precision = DType::kF32;
  /// For runs on a CPU. kBF16: f32 matmuls and convolutions by parameters and constants may round
  /// both operands to bf16 (to nearest, ties to even; subnormal numbers may become 0), with sums
  /// in f32; their results and all other calls are f32. Matmuls round the weights, so that
  /// they are read twice as fast. Where products of bf16 are faster (AVX512-BF16 on AMD's
  /// processors), matmuls and convolutions round both operands, unless an algorithm in f32 is
  /// expected to be faster, and attention rounds queries, keys, values and probabilities. Results
  /// depend on the processor family, not on the number of threads.
  DType matmul_precision = DType::kF32;
  /// The folder of weight files; nothing outside it is read.
  std::string weight_folder = ".";
  /// Verify the SHA-256 of each weight that has a stored one, when the network is created. Files
  /// are mapped: to change one that a network uses, replace it by another file.
  bool verify_weights = true;
  /// Values of parameters and states by name; they take precedence over files and initializers.
  llvm::StringMap<Constant> weights;
  /// The maximum number of cached bindings, one for each set of sizes of the inputs (least recently
  /// used eviction). They share their memory for values, but take up to 10 KB for each step. 0: as
  /// many as have 16,384 steps together, at least 32 and at most 256.
  unsigned max_bindings = 0;
  /// If not null, observes all passes: those of the network in Create, and those of a plan when a
  /// run first needs it, in the thread of that run and under a lock of the Network. It must outlive
  /// the Network.
  PassObserver* pass_observer = nullptr;
};

/// Whether this processor has kernels for a NetworkOptions::matmul_precision: for kF32 always, for
/// kBF16 with AVX2 (unless the environment variable PDL_MAX_CPU_ISA names a smaller set).
PDL_API bool CpuHasMatmulPrecision(DType precision);

/// Sets the option that makes runs on devices of this kind compute f32 matmuls and convolutions in
/// `precision`: `matmul_precision` on a CPU, `precision` on CUDA. If it has no effect on the CPU,
/// nothing changes, and the reason is returned, for a warning; otherwise "".
[[nodiscard]] PDL_API std::string SetPrecision(DType precision, DeviceKind kind,
                                               NetworkOptions* options);

class RunProfile;

/// Options of one run.
struct RunOptions {
  /// Names of the outputs to compute; empty: all. Inputs that neither they nor updates depend on
  /// may be missing.
  std::vector<std::string> outputs;
  bool training = false;
  /// Checks the result of each call: the run fails with an Error of Code::kNotFinite if a call
  /// returns a NaN or an infinity that none of its operands had. Calls without operands may return
  /// one. Calls run in source order without fused groups. Slow.
  bool check_finite = false;
  /// Checks the indices of each call, also those that are not declared with a range: the run fails
  /// with an Error of Code::kIndexRange if one is outside its axis. On CUDA, each call with
  /// indices is synchronized.
  bool check_indices = false;
  /// Observes the result of each call. Calls run in source order without fused groups. Slow.
  RunObserver* observer = nullptr;
  /// If not null, receives each output as soon as it is complete, instead of only after the run.
  /// If calls are observed individually, all outputs are complete after the last call; on CUDA, all
  /// but those of OutputObserver::TakesOnDevice always are.
  OutputObserver* output_observer = nullptr;
  /// If not null, memory for outputs by name, on the CPU: these outputs are written there, and are
  /// not stored in the Scope. Calls write to it directly where they can, so no tensor may overlap
  /// another one or an input. An Error, before any call that computes the output, if its dtype or
  /// sizes differ.
  const llvm::StringMap<Tensor>* output_memory = nullptr;
  /// If not null, accumulates the time of each step of the plan, including fused groups. On CUDA,
  /// each step is synchronized.
  RunProfile* profile = nullptr;
  /// If not null and true, the run ends soon, also within a long call, with Code::kCancelled.
  const std::atomic<bool>* cancel = nullptr;

  /// Whether the results of calls are observed individually.
  bool is_observed() const { return check_finite || observer != nullptr; }
};

/// A compiled network: immutable and thread-safe. Owns the weights, the Plans made from it, and the
/// Frames that runs use, one run at a time each.
///
/// A run reads inputs from the Scope's Variables: Tensors on the CPU or on the run's device; for
/// ragged and sparse inputs, the tensors of PartsOf (see "pdl/runtime/packed_value.h"). States are
/// read from and written to the same Scope; missing ones are created with their initial values.
/// Outputs are written to the Scope as Tensors on the CPU. A Scope's Variable with the name of a
/// parameter overrides the network's value. A failing run changes no state.
class PDL_API Network : public std::enable_shared_from_this<Network> {
 public:
  /// Creates a Network from an elaborated graph; loads or computes the parameters.
  static llvm::Expected<std::shared_ptr<const Network>> Create(Graph graph, NetworkOptions options,
                                                               const OpRegistry& registry);
  /// Loads a `.pdlc` file, which is mapped while it is read. Weight files are relative to the
  /// file's folder; `options.weight_folder` is ignored.
  static llvm::Expected<std::shared_ptr<const Network>> Load(llvm::StringRef path,
                                                             NetworkOptions options,
                                                             const OpRegistry& registry);
  ~Network();

  /// Runs the network once. Errors: a missing, surplus or mistyped input, contradicting sizes, more
  /// memory than MemoryLimit(), a device failure; each names the call and its source line if there
  /// is one. The first Error ends the run.
  llvm::Error Run(Scope* scope, DeviceContext* context) const;
  llvm::Error Run(Scope* scope, DeviceContext* context, const RunOptions& options) const;

  /// The graph before any pass.
  const Graph& graph() const;
  /// The graph after the passes of NetworkPipeline().
  const Graph& optimized_graph() const;
  /// Returns the value of a parameter, or the initial value of a state whose size is known.
  llvm::Expected<Tensor> InitialValue(llvm::StringRef name) const;

  /// The number of runs with random operators in a Scope; the random numbers of the next run depend
  /// on it. SetRunCount continues from the state of another Scope.
  static uint64_t RunCount(const Scope& scope);
  static void SetRunCount(Scope* scope, uint64_t count);

  /// Describes the plan as `pdl dump --emit=plan` prints it: calls with kernels and fused groups;
  /// if `symbols` has the size of every symbol, also arena offsets and peak bytes.
  llvm::Expected<std::string> DescribePlan(DeviceContext* context, const RunOptions& options,
                                           const llvm::StringMap<int64_t>& symbols) const;

  /// The memory of a run as formulas in the symbols; if `symbols` has the size of every symbol,
  /// also in bytes.
  llvm::Expected<MemoryReport> ReportMemory(DeviceContext* context, const RunOptions& options,
                                            const llvm::StringMap<int64_t>& symbols) const;

 private:
  struct Impl;
  explicit Network(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_NETWORK_H_
