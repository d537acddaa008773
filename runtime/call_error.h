#ifndef PDL_RUNTIME_CALL_ERROR_H_
#define PDL_RUNTIME_CALL_ERROR_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/operator.h"

namespace pdl {

/// What the text calls an operator: `conv2d` of the form `conv2d.channels_last` that a Plan runs.
llvm::StringRef WrittenName(const OpDef& def);
/// A message with the call's place and operator in front.
std::string AboutCall(const OperatorArguments& call, llvm::StringRef message);
/// The same of an Error, its kind and code kept.
llvm::Error AboutCall(const OperatorArguments& call, llvm::Error error);

}  // namespace pdl

#endif  // PDL_RUNTIME_CALL_ERROR_H_
