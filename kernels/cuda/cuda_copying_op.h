// Operators that copy each input to its own region of the output.
#ifndef PDL_KERNELS_CUDA_CUDA_COPYING_OP_H_
#define PDL_KERNELS_CUDA_CUDA_COPYING_OP_H_

#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_copy.h"
#include "pdl/op/operator.h"

namespace pdl::cuda {

struct CopyState : CallState {
  /// One for each input.
  std::vector<StridedCopy> copies;
};

class CopyingOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const auto& copies = context.state<CopyState>()->copies;
    for (size_t i = 0; i < copies.size(); ++i) {
      if (auto error = copies[i].Run(context, type().c_str(), inputs[i]->raw(), outputs[0]->raw()))
        return error;
    }
    return llvm::Error::success();
  }

 protected:
  /// Fills the output from the only input: `from` maps element i, in row-major order of the
  /// output's sizes, to an element of the input. If that is the identity, the output aliases the
  /// input.
  static llvm::Expected<Preparation> PrepareOne(const PrepareContext& context, CopySide from) {
    const OperandType& input = context.inputs()[0];
    const OperandType& output = context.outputs()[0];
    const Sizes to = DenseStrides(output.sizes);
    auto copy = StridedCopy::Create(output.sizes, from, {to, 0}, DTypeSize(input.dtype));
    if (!copy) return copy.takeError();
    Preparation preparation;
    if (copy->is_whole() && input.num_elements() == output.num_elements())
      preparation.aliases.push_back({0, 0});
    auto state = std::make_shared<CopyState>();
    state->copies.push_back(*copy);
    preparation.state = std::move(state);
    return preparation;
  }
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_CUDA_COPYING_OP_H_
