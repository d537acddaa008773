#ifndef PDL_TOOLS_PDL_SUPPORT_LOAD_NETWORK_H_
#define PDL_TOOLS_PDL_SUPPORT_LOAD_NETWORK_H_

#include <memory>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/load.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// Converts the options to those of loading.
LoadOptions ToLoadOptions(const CommonOptions& options);

/// Loads the plugins and then a network, and prints its warnings; with --werror they are an Error.
llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const CommonOptions& options);
/// The same for a file that was already read; the plugins must be loaded.
llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file, const CommonOptions& options);

/// Opens the file of --weights, which must be given, see pdl/compiler/load.h; warnings are as
/// above.
llvm::Expected<GivenWeights> OpenGivenWeights(const CommonOptions& options, const Graph& graph);

/// Creates the Network, with the values of --weights. Consumes `loaded`.
llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                             const CommonOptions& options);

/// Turns a network that was loaded with CommonOptions::training_step into that of a training step,
/// with all its minimize statements.
llvm::Error MakeStep(Graph& graph, const CommonOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_LOAD_NETWORK_H_
