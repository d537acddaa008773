#ifndef TOOLS_PDL_ONNX_NETWORK_H_
#define TOOLS_PDL_ONNX_NETWORK_H_

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/import.h"
#include "pdl/scope.h"
#include "tools/pdl/common_options.h"

namespace pdl {

/// The network of an ONNX model. Inputs that --set names are constants of it, with those values,
/// and sizes are numbers. Its parameters say that they lie in a file of the model's name,
/// "model.safetensors".
llvm::Expected<ImportedModel> ImportOnnxFile(llvm::StringRef path, const CommonOptions& options);

/// --set for each size of the network, as `fed` has it: of a model that is imported with them, all
/// is decided as ONNX decides it when it runs.
std::vector<std::pair<std::string, std::string>> SizesAsSettings(const Graph& graph,
                                                                 const Scope& fed);

}  // namespace pdl

#endif  // TOOLS_PDL_ONNX_NETWORK_H_
