#ifndef PDL_MODEL_ONNX_FILE_H_
#define PDL_MODEL_ONNX_FILE_H_

#include <functional>
#include <string>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/import/import.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/load.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/network.h"

namespace pdl {

/// Imports the network of an ONNX model, which is read here unless it is in memory. Inputs named in
/// `settings` become constants with the given values, and sizes become numbers; see LoadOptions.
/// Its parameters are stored in a file named after the model, "model.safetensors".
PDL_API llvm::Expected<ImportedModel> ImportOnnxFile(
    const InputFile& file, llvm::ArrayRef<std::pair<std::string, std::string>> settings,
    const std::function<std::string(llvm::StringRef)>& setting_place = nullptr);

struct OnnxFileOptions {
  /// The name of the graph in the model.
  std::string name = "network";
  /// Whether to store weights in a file next to the model, as is done from 1 GiB in total on.
  bool external_data = false;
};

/// The bytes of an ONNX model, with all weights; as WriteOnnxFile.
PDL_API llvm::Expected<std::string> SerializeOnnx(const Network& network, llvm::StringRef name);

/// Writes a network as an ONNX model for inference; see ExportOnnx. `states` are the values of
/// states that the model begins with; others have their initial values. Weights in a separate file
/// are in `path`.data. The old files remain if the Error is that of a full disk.
PDL_API llvm::Error WriteOnnxFile(const Network& network, llvm::StringRef path,
                                  const llvm::StringMap<Tensor>& states,
                                  const OnnxFileOptions& options);

}  // namespace pdl

#endif  // PDL_MODEL_ONNX_FILE_H_
