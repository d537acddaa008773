#ifndef PDL_ONNX_MODEL_PDL_NAMES_H_
#define PDL_ONNX_MODEL_PDL_NAMES_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace pdl {

/// A name of the language that reads like a name of a model: "/layer1/layer1.0/conv1/Conv_output_0"
/// becomes "layer1_0_conv1_Conv". Never a reserved word, nor the name of an operator or a layer;
/// not unique.
std::string ToIdentifier(llvm::StringRef name);

}  // namespace pdl

#endif  // PDL_ONNX_MODEL_PDL_NAMES_H_
