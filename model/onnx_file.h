#ifndef PDL_MODEL_ONNX_FILE_H_
#define PDL_MODEL_ONNX_FILE_H_

#include <functional>
#include <string>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/import/import.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// Imports the network of an ONNX model. Inputs named in `settings` become constants with the given
/// values, and sizes become numbers; see LoadOptions. Its parameters are stored in a file named
/// after the model, "model.safetensors".
PDL_API llvm::Expected<ImportedModel> ImportOnnxFile(
    llvm::StringRef path, llvm::ArrayRef<std::pair<std::string, std::string>> settings,
    const std::function<std::string(llvm::StringRef)>& setting_place = nullptr);

}  // namespace pdl

#endif  // PDL_MODEL_ONNX_FILE_H_
