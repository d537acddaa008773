#ifndef PDL_TOOLS_PDL_SUPPORT_FIRST_RUN_H_
#define PDL_TOOLS_PDL_SUPPORT_FIRST_RUN_H_

#include <memory>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/scope.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/run_inputs.h"

namespace pdl {

/// A network that has run once, on inputs of the command line.
struct FirstRun {
  std::shared_ptr<const Network> network;
  std::unique_ptr<DeviceContext> context;
  /// The inputs; and their child with states and outputs.
  Scope fed;
  Scope scope{&fed};
};

/// Loads the network of a file, feeds it, and runs it once. In an ONNX model, a size that turns out
/// to be 1 is broadcast: it is then loaded again with the sizes of the inputs.
llvm::Expected<std::unique_ptr<FirstRun>> RunOnce(llvm::StringRef path, RunInputs& inputs,
                                                  CommonOptions& common, const RunOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_FIRST_RUN_H_
