#ifndef TOOLS_PDL_LOAD_NETWORK_H_
#define TOOLS_PDL_LOAD_NETWORK_H_

#include <memory>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/load.h"
#include "tools/pdl/common_options.h"

namespace pdl {

/// What the options say of loading.
LoadOptions ToLoadOptions(const CommonOptions& options);

/// Loads a network, after the plugins, and prints its warnings.
llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const CommonOptions& options);
/// The same of a file that is read already; the plugins are loaded.
llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file, const CommonOptions& options);

/// The file of --weights, see pdl/load.h; prints the warnings.
llvm::Expected<SafetensorsFile> OpenGivenWeights(llvm::StringRef path, const Graph& graph);

/// The Network, with the values of --weights. Consumes `loaded`.
llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                             const CommonOptions& options);

}  // namespace pdl

#endif  // TOOLS_PDL_LOAD_NETWORK_H_
