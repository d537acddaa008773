#include "kernels/cuda_copying_op.h"
#include "kernels/cuda_ops.h"

namespace pdl::cuda {
namespace {

class ReshapeOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext&) const override {
    Preparation preparation;
    preparation.aliases.push_back({0, 0});
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (inputs[0]->raw() == outputs[0]->raw()) return llvm::Error::success();
    return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
  }
};

class TransposeOp : public CopyingOp {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const Sizes& sizes = context.inputs()[0].sizes;
    const int64_t rank = static_cast<int64_t>(sizes.size());
    Sizes from = DenseStrides(sizes);
    if (attributes().Has("perm")) {
      const Sizes strides = from;
      const auto axes = attributes().Ints("perm");
      for (size_t i = 0; i < axes.size(); ++i)
        from[i] = strides[static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i])];
    } else {
      std::swap(from[from.size() - 2], from[from.size() - 1]);
    }
    return PrepareOne(context, {from, 0});
  }
};

class BroadcastToOp : public CopyingOp {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const Sizes from = BroadcastStrides(context.inputs()[0].sizes, context.outputs()[0].sizes);
    return PrepareOne(context, {from, 0});
  }
};

}  // namespace

void AddShapeKernels(OpRegistry& registry) {
  registry.AddKernel("reshape", DeviceKind::kCUDA, &CreateKernel<ReshapeOp>);
  registry.AddKernel("stop_gradient", DeviceKind::kCUDA, &CreateKernel<ReshapeOp>);
  registry.AddKernel("flatten", DeviceKind::kCUDA, &CreateKernel<ReshapeOp>);
  registry.AddKernel("squeeze", DeviceKind::kCUDA, &CreateKernel<ReshapeOp>);
  registry.AddKernel("unsqueeze", DeviceKind::kCUDA, &CreateKernel<ReshapeOp>);
  registry.AddKernel("transpose", DeviceKind::kCUDA, &CreateKernel<TransposeOp>);
  registry.AddKernel("broadcast_to", DeviceKind::kCUDA, &CreateKernel<BroadcastToOp>);
}

}  // namespace pdl::cuda
