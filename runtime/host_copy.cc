#include "pdl/op/host_copy.h"

namespace pdl {

llvm::Expected<Tensor> OnHost(const Tensor& tensor, DeviceContext& context) {
  if (tensor.device().kind == DeviceKind::kCPU) return tensor;
  llvm::Expected<Tensor> copy = Tensor::AllocateUninitialized(tensor.dtype(), tensor.sizes());
  if (!copy) return copy.takeError();
  if (llvm::Error error = context.CopyToHost(copy->raw(), tensor.raw(), tensor.num_bytes()))
    return error;
  return copy;
}

}  // namespace pdl
