#include <memory>

#include "kernels/cuda_copy.h"
#include "kernels/cuda_ops.h"
#include "pdl/operator.h"

namespace pdl::cuda {
namespace {

struct SliceState : CallState {
  StridedCopy copy;
};

class SliceOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    const OperandType& output = context.outputs()[0];
    const int64_t rank = static_cast<int64_t>(input.sizes.size());
    const AttributeReader attributes = this->attributes();
    const auto axes = attributes.Ints("axes"), steps = attributes.Ints("steps");
    const Shape& starts = attributes.Dims("starts");

    Sizes from = DenseStrides(input.sizes);
    int64_t offset = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
      auto start = context.Evaluate(starts[i]);
      if (!start) return start.takeError();
      offset += (*start < 0 ? *start + input.sizes[axis] : *start) * from[axis];
      from[axis] *= steps[i];
    }
    const Sizes to = DenseStrides(output.sizes);
    auto copy = StridedCopy::Create(output.sizes, {from, offset}, {to, 0}, DTypeSize(input.dtype));
    if (!copy) return copy.takeError();
    Preparation preparation;
    if (output.sizes == input.sizes && copy->is_whole()) preparation.aliases.push_back({0, 0});
    auto state = std::make_shared<SliceState>();
    state->copy = *copy;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return context.state<SliceState>()->copy.Run(context, type().c_str(), inputs[0]->raw(),
                                                 outputs[0]->raw());
  }
};

}  // namespace

void AddSliceKernels(OpRegistry& registry) {
  registry.AddKernel("slice", DeviceKind::kCUDA, &CreateKernel<SliceOp>);
}

}  // namespace pdl::cuda
