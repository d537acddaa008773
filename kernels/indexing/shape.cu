#include "kernels/core/alias_op.h"
#include "kernels/cuda/cuda_copying_op.h"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

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
  registry.AddKernel("reshape", DeviceKind::kCUDA, &CreateKernel<AliasOp<CUDAContext>>);
  registry.AddKernel("stop_gradient", DeviceKind::kCUDA, &CreateKernel<AliasOp<CUDAContext>>);
  registry.AddKernel("lazy_rows", DeviceKind::kCUDA, &CreateKernel<AliasOp<CUDAContext>>);
  registry.AddKernel("flatten", DeviceKind::kCUDA, &CreateKernel<AliasOp<CUDAContext>>);
  registry.AddKernel("squeeze", DeviceKind::kCUDA, &CreateKernel<AliasOp<CUDAContext>>);
  registry.AddKernel("unsqueeze", DeviceKind::kCUDA, &CreateKernel<AliasOp<CUDAContext>>);
  registry.AddKernel("transpose", DeviceKind::kCUDA, &CreateKernel<TransposeOp>);
  registry.AddKernel("broadcast_to", DeviceKind::kCUDA, &CreateKernel<BroadcastToOp>);
}

}  // namespace pdl::cuda
