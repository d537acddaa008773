// Module: runtime
#ifndef PDL_OP_HOST_COPY_H_
#define PDL_OP_HOST_COPY_H_

#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Returns a tensor of the context's device in CPU memory: the tensor itself if the CPU can read
/// it, else a copy. An Error if memory is exhausted or the device fails.
PDL_API llvm::Expected<Tensor> OnHost(const Tensor& tensor, DeviceContext& context);

}  // namespace pdl

#endif  // PDL_OP_HOST_COPY_H_
