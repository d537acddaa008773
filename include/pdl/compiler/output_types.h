// Module: frontend
#ifndef PDL_COMPILER_OUTPUT_TYPES_H_
#define PDL_COMPILER_OUTPUT_TYPES_H_

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/export.h"
#include "pdl/op/type.h"

namespace pdl {

/// One output of a call: its name and its type. Sizes are expressions of the symbols of the inputs.
struct OutputType {
  std::string name;
  Type type;
};

/// The types of the outputs of the layer or operator `callee` for inputs of these types, given by
/// position, and attributes, each a name and its value as source: {"size", "64"}, {"act",
/// "relu()"}.
///
/// `request` has the operators, the standard layers and the reader of imports; layers of the user's
/// own are in `request.file`, which may be null. Errors and warnings go to `diagnostics`, in which
/// the call is the file "<call>"; the result is empty if there is an error. Nothing is run, and no
/// parameter is created.
PDL_API std::vector<OutputType> FindOutputTypes(
    const CompileRequest& request, llvm::StringRef callee, llvm::ArrayRef<Type> inputs,
    llvm::ArrayRef<std::pair<std::string, std::string>> attributes, Diagnostics* diagnostics);

}  // namespace pdl

#endif  // PDL_COMPILER_OUTPUT_TYPES_H_
