// Prepares the calls of operators, which may come from plugins.
#ifndef PDL_RUNTIME_PREPARE_CALL_H_
#define PDL_RUNTIME_PREPARE_CALL_H_

#include "llvm/Support/Error.h"
#include "pdl/op/operator.h"

namespace pdl {

/// Returns what `op.Prepare` returns, checked: aliases and in_place are pairs of an output and an
/// input of the call, packed inputs exist, and the workspace is not negative. A UserError
/// otherwise, and if Prepare throws.
llvm::Expected<Preparation> PrepareCall(const OperatorBase& op, const PrepareContext& context);

/// The error of a kernel that threw an exception, whose what() is given.
llvm::Error KernelThrew(const char* what);

}  // namespace pdl

#endif  // PDL_RUNTIME_PREPARE_CALL_H_
