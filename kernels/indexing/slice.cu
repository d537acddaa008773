#include "kernels/cuda/cuda_copying_op.h"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

class SliceOp : public CopyingOp {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const Sizes& sizes = context.inputs()[0].sizes;
    const int64_t rank = static_cast<int64_t>(sizes.size());
    const AttributeReader attributes = this->attributes();
    const auto axes = attributes.Ints("axes");
    const Shape& starts = attributes.Dims("starts");

    Sizes from = DenseStrides(sizes);
    int64_t offset = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
      auto start = context.Evaluate(starts[i]);
      if (!start) return start.takeError();
      offset += (*start < 0 ? *start + sizes[axis] : *start) * from[axis];
      if (attributes.Has("steps")) from[axis] *= attributes.Ints("steps")[i];
    }
    return PrepareOne(context, {from, offset});
  }
};

class ConcatOp : public CopyingOp {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& output = context.outputs()[0];
    const int64_t rank = static_cast<int64_t>(output.sizes.size());
    const int64_t given = attributes().Int("axis");
    const size_t axis = static_cast<size_t>(given < 0 ? given + rank : given);
    const Sizes to = DenseStrides(output.sizes);
    auto state = std::make_shared<CopyState>();
    int64_t offset = 0;
    for (const OperandType& input : context.inputs()) {
      Sizes sizes = input.sizes;
      // stack: each part has size 1 along the new axis.
      if (sizes.size() < output.sizes.size()) sizes.insert(sizes.begin() + axis, 1);
      const Sizes from = DenseStrides(sizes);
      auto copy = StridedCopy::Create(sizes, {from, 0}, {to, offset}, DTypeSize(output.dtype));
      if (!copy) return copy.takeError();
      state->copies.push_back(*copy);
      offset += sizes[axis] * to[axis];
    }
    Preparation preparation;
    if (context.inputs().size() == 1) preparation.aliases.push_back({0, 0});
    preparation.state = std::move(state);
    return preparation;
  }
};

}  // namespace

void AddSliceKernels(OpRegistry& registry) {
  registry.AddKernel("slice", DeviceKind::kCUDA, &CreateKernel<SliceOp>);
  registry.AddKernel("concat", DeviceKind::kCUDA, &CreateKernel<ConcatOp>);
  registry.AddKernel("stack", DeviceKind::kCUDA, &CreateKernel<ConcatOp>);
}

}  // namespace pdl::cuda
