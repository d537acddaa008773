#ifndef PDL_RUNTIME_CALL_ERROR_H_
#define PDL_RUNTIME_CALL_ERROR_H_

#include <string>

#include "ir/located_error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/error.h"
#include "pdl/op/operator.h"

namespace pdl {

/// The name of an operator in the source: `conv2d` for the variant `conv2d.channels_last`.
llvm::StringRef WrittenName(const OpDef& def);
/// Prepends the call's operator to a message.
std::string AboutCall(const OperatorArguments& call, llvm::StringRef message);
/// Prepends the call's location and operator to the message of an Error, and preserves its kind and
/// code. The position of an Error of a call in its body is appended to the call's.
PDL_API llvm::Error AboutCall(const OperatorArguments& call, llvm::Error error);

}  // namespace pdl

#endif  // PDL_RUNTIME_CALL_ERROR_H_
