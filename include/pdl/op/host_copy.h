// Module: runtime
#ifndef PDL_OP_HOST_COPY_H_
#define PDL_OP_HOST_COPY_H_

#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// A tensor on the context's device, where the CPU can read it: the tensor itself where that is so
/// already, else a copy. An Error where there is no memory or the device fails.
PDL_API llvm::Expected<Tensor> OnHost(const Tensor& tensor, DeviceContext& context);

}  // namespace pdl

#endif  // PDL_OP_HOST_COPY_H_
