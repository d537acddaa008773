#ifndef PDL_ONNX_IMPORT_TEXT_H_
#define PDL_ONNX_IMPORT_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "onnx/import/import.h"

namespace pdl {

/// The source of a network, and the tensors of its weight file.
struct ImportedText {
  std::string text;
  std::vector<std::pair<std::string, Constant>> tensors;
};

/// Writes the source of an imported network: calls that are equivalent to a standard layer (a
/// convolution with its weights, normalization, a matmul with its bias) become the layer, whose
/// parameters have the layer's names; a value that is used once is piped into the call that uses
/// it. `weight_file` is the file that the source loads the tensors from.
PDL_API ImportedText WriteImportedText(const ImportedModel& model, llvm::StringRef weight_file);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_TEXT_H_
