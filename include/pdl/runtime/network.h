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
#include "pdl/runtime/scope.h"

namespace pdl {

class PassObserver;
class RunObserver;

/// How a Network is made from a Graph.
struct NetworkOptions {
  /// Seed of initializers and of random operators.
  uint64_t seed = 0;
  /// Run the passes that only make it faster (see "pdl/pipeline.h").
  bool optimize = true;
  /// Form fused groups of elementwise calls.
  bool fuse = true;
  /// The dtype that products of f32 are computed in: kF32, or kF16 or kBF16 (mixed precision, see
  /// ComputeProductsInHalves). Parameters, states and outputs keep their types.
  DType precision = DType::kF32;
  /// The folder that relative weight files are looked up in; nothing outside it is read.
  std::string weight_folder = ".";
  /// Compare the SHA-256 of each weight with the stored one, where there is one.
  bool verify_weights = true;
  /// Values of parameters and states by name, which come before files and initializers.
  llvm::StringMap<Constant> weights;
  /// Bindings kept, the least recently used going first.
  unsigned max_bindings = 32;
  /// Where not null, it sees all passes: those of the network in Create, those of a plan when a run
  /// first needs it, then in the thread of that run and under a lock of the Network. It must
  /// outlive the Network.
  PassObserver* pass_observer = nullptr;
};

class RunProfile;

/// What one run wants.
struct RunOptions {
  /// Names of the outputs to compute; empty means all. Inputs that none of them (nor an update)
  /// needs need not be there.
  std::vector<std::string> outputs;
  bool training = false;
  /// Looks at the result of each call, in the order of the text and without fused groups: the run
  /// ends with an Error of Code::kNotFinite where a call gives a nan or an infinity that none of
  /// its operands had. Calls without operands may give one. Slow.
  bool check_finite = false;
  /// Sees the result of each call, in the order of the text and without fused groups. Slow.
  RunObserver* observer = nullptr;
  /// Where not null, the time that each step takes is added there: of the run as it is planned,
  /// with its fused groups. On CUDA each step is waited for.
  RunProfile* profile = nullptr;
  /// Where set and true, the run ends before its next call with an Error of Code::kCancelled.
  const std::atomic<bool>* cancel = nullptr;

  /// Whether the results of calls are looked at one by one.
  bool is_observed() const { return check_finite || observer != nullptr; }
};

/// A compiled network: immutable, shared by threads. It owns the weights, the Plans made of it and
/// the Frames that runs take in turn.
///
/// A run reads inputs from the Scope's Variables (Tensors on the CPU or on the run's device; those
/// that are ragged or sparse as the tensors of PartsOf, see "pdl/packed_value.h"),
/// states from the same Scope, in which they are made with their first values where they are
/// missing, and writes outputs there as Tensors on the CPU. A parameter that the Scope has under
/// its name is used in place of the network's own. A run that fails changes no state.
class PDL_API Network : public std::enable_shared_from_this<Network> {
 public:
  /// Takes the elaborated graph; loads or computes the parameters.
  static llvm::Expected<std::shared_ptr<const Network>> Create(Graph graph, NetworkOptions options,
                                                               const OpRegistry& registry);
  /// The network in a `.pdlc` file, which is mapped while it is read. Its weights lie beside it:
  /// `options.weight_folder` is not used.
  static llvm::Expected<std::shared_ptr<const Network>> Load(llvm::StringRef path,
                                                             NetworkOptions options,
                                                             const OpRegistry& registry);
  ~Network();

  /// Runs it once. Errors: a missing, surplus or misshapen input, sizes that contradict each other,
  /// more memory than MemoryLimit(), a device that fails; each names the call and its source line
  /// where there is one. The first Error ends the run.
  llvm::Error Run(Scope* scope, DeviceContext* context) const;
  llvm::Error Run(Scope* scope, DeviceContext* context, const RunOptions& options) const;

  /// The graph as it was given, before any pass.
  const Graph& graph() const;
  /// The graph that runs, after the passes.
  const Graph& optimized_graph() const;
  /// The value of a parameter, or the first value of a state (where its size is known).
  llvm::Expected<Tensor> InitialValue(llvm::StringRef name) const;

  /// How many runs that drew random numbers the Scope has seen: the numbers of the next one depend
  /// on it. What sets it takes up where another Scope was.
  static uint64_t RunCount(const Scope& scope);
  static void SetRunCount(Scope* scope, uint64_t count);

  /// What `pdl dump --emit=plan` prints: calls with kernels, fused groups, and, where every symbol
  /// has a size in `symbols`, arena offsets and peak bytes.
  llvm::Expected<std::string> DescribePlan(DeviceContext* context, const RunOptions& options,
                                           const llvm::StringMap<int64_t>& symbols) const;

 private:
  struct Impl;
  explicit Network(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_NETWORK_H_
