#ifndef TOOLS_PDL_ONNX_NETWORK_H_
#define TOOLS_PDL_ONNX_NETWORK_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/import.h"
#include "tools/pdl/common_options.h"

namespace pdl {

/// The network of an ONNX model. Inputs that --set names are constants of it, with those values.
/// Its parameters say that they lie in a file of the model's name, "model.safetensors".
llvm::Expected<ImportedModel> ImportOnnxFile(llvm::StringRef path, const CommonOptions& options);

}  // namespace pdl

#endif  // TOOLS_PDL_ONNX_NETWORK_H_
