#ifndef PDL_TOOLS_PDL_SUPPORT_LOAD_NETWORK_H_
#define PDL_TOOLS_PDL_SUPPORT_LOAD_NETWORK_H_

#include <memory>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/load.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// What the options say of loading.
LoadOptions ToLoadOptions(const CommonOptions& options);

/// Loads a network, after the plugins, and prints its warnings.
llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const CommonOptions& options);
/// The same of a file that is read already; the plugins are loaded.
llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file, const CommonOptions& options);

/// The file of --weights, see pdl/compiler/load.h; prints the warnings.
llvm::Expected<SafetensorsFile> OpenGivenWeights(llvm::StringRef path, const Graph& graph);

/// The Network, with the values of --weights. Consumes `loaded`.
llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                             const CommonOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_LOAD_NETWORK_H_
