#ifndef PDL_RUNTIME_COMPOSED_OPERATOR_H_
#define PDL_RUNTIME_COMPOSED_OPERATOR_H_

#include <memory>

#include "llvm/Support/Error.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {

/// Creates the operator of a single call that has no kernel and is always lowered (`split`,
/// `einsum`): it runs the lowered calls as a network. The registry must outlive it.
llvm::Expected<std::unique_ptr<OperatorBase>> ComposeOperator(const OpRegistry& registry,
                                                              const OperatorArguments& arguments,
                                                              DeviceKind device);

}  // namespace pdl

#endif  // PDL_RUNTIME_COMPOSED_OPERATOR_H_
