#ifndef PDL_ONNX_IMPORT_TEXT_H_
#define PDL_ONNX_IMPORT_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "onnx/import/import.h"

namespace pdl {

/// A network as text for people, and the tensors that its file of weights holds.
struct ImportedText {
  std::string text;
  std::vector<std::pair<std::string, Constant>> tensors;
};

/// The text of an imported network: calls that make a standard layer (a convolution with its
/// weights, normalization, a product with its bias) become the layer, whose parameters have the
/// layer's names; a value that is used once is piped into the call that uses it. `weight_file` is
/// where the text says that the tensors lie.
PDL_API ImportedText WriteImportedText(const ImportedModel& model, llvm::StringRef weight_file);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_TEXT_H_
