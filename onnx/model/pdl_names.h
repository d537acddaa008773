#ifndef PDL_ONNX_MODEL_PDL_NAMES_H_
#define PDL_ONNX_MODEL_PDL_NAMES_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace pdl {

/// Converts a name in a model to an identifier: "/layer1/layer1.0/conv1/Conv_output_0" becomes
/// "layer1_0_conv1_Conv". The result is never a reserved word, nor the name of an operator or a
/// layer, but may not be unique.
std::string ToIdentifier(llvm::StringRef name);
/// The name of an input: that of the model if the language accepts it, such as "input" or
/// "encoder.mask", otherwise ToIdentifier(name).
std::string InputName(llvm::StringRef name);
/// The same for an output, whose name has no '.'.
std::string OutputName(llvm::StringRef name);

}  // namespace pdl

#endif  // PDL_ONNX_MODEL_PDL_NAMES_H_
