#ifndef PDL_TOOLS_PDL_BISECT_FED_NETWORK_H_
#define PDL_TOOLS_PDL_BISECT_FED_NETWORK_H_

#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/network.h"
#include "tools/pdl/compare/sides.h"

namespace pdl {

/// A network and the values that it reads, for runs of its variants. All values are dense.
struct FedNetwork {
  Graph graph;
  /// The values of parameters and states; those of states whose sizes depend on inputs are missing.
  llvm::StringMap<Constant> variables;
  /// The values of inputs.
  llvm::StringMap<Tensor> inputs;
  /// NetworkOptions::precision of its runs.
  DType precision = DType::kF32;
};

/// How networks are run.
struct RunSetup {
  DeviceContext* context = nullptr;
  uint64_t seed = 0;
  bool training = false;
};

/// The network of a Side that was opened and fed. It has no updates and no minimize statements; the
/// new value of a state `s` is an output, `s.next`. Ragged and sparse values become the tensors of
/// PartsOf. Inputs that were not given have no value.
llvm::Expected<FedNetwork> ToFedNetwork(const Side& side);

/// How the network of a Side is run.
RunSetup SetupOf(const Side& side);

/// Creates the Network, in the precision of `options`. `options.seed` and `options.weights` are
/// ignored.
llvm::Expected<std::shared_ptr<const Network>> MakeNetwork(const FedNetwork& fed,
                                                           const RunSetup& setup,
                                                           NetworkOptions options = {});
/// Lowers `gradient`, whose calls depend on more than its operands; inserts the casts that reduce
/// the precision; removes calls that no output needs.
llvm::Expected<FedNetwork> Lowered(const FedNetwork& fed, const RunSetup& setup);
/// Puts the inputs into a Scope.
void Feed(const FedNetwork& fed, Scope* scope);

/// Runs the network once and returns its outputs.
llvm::Expected<llvm::StringMap<Tensor>> RunOnce(const FedNetwork& fed, const RunSetup& setup,
                                                NetworkOptions options = {});

/// Runs the network once without optional passes, in full precision, and returns copies of values:
/// the results of calls, inputs, parameters and states. Values that a Plan knows before the run are
/// left out.
llvm::Expected<llvm::StringMap<Tensor>> RecordValues(const FedNetwork& fed, const RunSetup& setup,
                                                     llvm::ArrayRef<const Value*> values);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_FED_NETWORK_H_
