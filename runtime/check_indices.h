#ifndef PDL_RUNTIME_CHECK_INDICES_H_
#define PDL_RUNTIME_CHECK_INDICES_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/operator.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Checks the indices of a call that is about to run, whose OpDef::check_indices is not null. The
/// Error names the call.
llvm::Error CheckIndices(const OperatorBase& op, llvm::ArrayRef<const Tensor*> inputs,
                         llvm::ArrayRef<Tensor*> outputs, DeviceContext& context);

}  // namespace pdl

#endif  // PDL_RUNTIME_CHECK_INDICES_H_
