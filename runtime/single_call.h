#ifndef PDL_RUNTIME_SINGLE_CALL_H_
#define PDL_RUNTIME_SINGLE_CALL_H_

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/operator.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Runs one call outside a Plan: infers the types of the results from the tensors, allocates them,
/// and computes them. `inputs` are on the context's device. A result that is the memory of an input
/// (Preparation::aliases) shares it. Errors name the call.
llvm::Expected<std::vector<Tensor>> RunSingleCall(const OperatorBase& op,
                                                  llvm::ArrayRef<Tensor> inputs,
                                                  DeviceContext& context);

}  // namespace pdl

#endif  // PDL_RUNTIME_SINGLE_CALL_H_
