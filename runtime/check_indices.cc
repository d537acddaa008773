#include "runtime/check_indices.h"

#include <vector>

#include "ir/operator_code.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "runtime/call_error.h"

namespace pdl {

llvm::Error CheckIndices(const OperatorBase& op, llvm::ArrayRef<const Tensor*> inputs,
                         llvm::ArrayRef<Tensor*> outputs, DeviceContext& context) {
  std::vector<Tensor> copies;
  copies.reserve(inputs.size());
  std::vector<const Tensor*> operands;
  for (const Tensor* input : inputs) {
    llvm::Expected<Tensor> copy = OnHost(*input, context);
    if (!copy) return copy.takeError();
    copies.push_back(std::move(*copy));
    operands.push_back(&copies.back());
  }
  const std::vector<const Tensor*> results(outputs.begin(), outputs.end());
  llvm::Error error = ConvertExceptions(
      [&] { return op.def().check_indices(op.attributes(), operands, results); },
      [](const char* what) {
        return MakeUserError(Code::kOperatorUse, "its check of indices failed: {0}", what);
      });
  return error ? AboutCall(op.arguments(), std::move(error)) : llvm::Error::success();
}

}  // namespace pdl
