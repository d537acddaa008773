#include <memory>

#include "kernels/indexing/nd_index.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

// --- gather_nd ----------------------------------------------------------------------------------

struct GatherNdState : CallState {
  NdShape shape;
};

/// One thread per element.
template <class Bits, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    GatherNdKernel(const __grid_constant__ NdShape shape, Bits missing, const Bits* x,
                   const Index* indices, Bits* y) {
  const long long n = shape.blocks * shape.count * shape.inner;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long row = i / shape.inner;
    const long long position = TuplePosition(shape, indices, row);
    const long long from =
        (row / shape.count * shape.positions + position) * shape.inner + (i - row * shape.inner);
    y[i] = position < 0 ? missing : x[from];
  }
}

class GatherNdOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const DType dtype = context.inputs()[0].dtype;
    if (auto error = RequireDType(AnyElement(), dtype, *this)) return error;
    auto shape = MakeNdShape(context, attributes().Int("batch_dims"));
    if (!shape) return shape.takeError();
    auto state = std::make_shared<GatherNdState>();
    state->shape = *shape;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const NdShape& shape = context.state<GatherNdState>()->shape;
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const DType dtype = outputs[0]->dtype();
    return VisitBits(dtype, [&](auto bits) {
      using Bits = decltype(bits);
      return VisitIndex(inputs[1]->dtype(), [&](auto index) {
        using Index = decltype(index);
        return Launch(context, type().c_str(), &GatherNdKernel<Bits, Index>, GridFor(context, n),
                      dim3(kBlockThreads), shape, static_cast<Bits>(MissingBits(dtype)),
                      static_cast<const Bits*>(inputs[0]->raw()),
                      static_cast<const Index*>(inputs[1]->raw()),
                      static_cast<Bits*>(outputs[0]->raw()));
      });
    });
  }
};

// --- take_along_axis ----------------------------------------------------------------------------

struct TakeState : CallState {
  /// Maps an element of the result to its index, and to the start of its line in x.
  IndexMap<2> map;
  int64_t size = 0, stride = 0;
};

template <class Bits, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    TakeKernel(const __grid_constant__ IndexMap<2> map, long long size, long long stride,
               Bits missing, const Bits* x, const Index* indices, Bits* y) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < map.num_elements; i += step) {
    const Offsets<2> at = map.At(i);
    const long long position = PositionOf(indices, at.at[0], size);
    y[i] = position < 0 ? missing : x[at.at[1] + position * stride];
  }
}

class TakeAlongAxisOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(AnyElement(), x.dtype, *this)) return error;
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = attributes().Int("axis");
    const size_t axis = static_cast<size_t>(given < 0 ? given + rank : given);
    const Sizes& to = context.outputs()[0].sizes;
    auto state = std::make_shared<TakeState>();
    state->size = x.sizes[axis];
    state->stride = DenseStrides(x.sizes)[axis];
    Sizes from = BroadcastStrides(x.sizes, to);
    from[axis] = 0;
    const Sizes index = BroadcastStrides(context.inputs()[1].sizes, to);
    auto map = MakeIndexMap<2>(to, {index, from});
    if (!map) return map.takeError();
    state->map = *map;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const TakeState& state = *context.state<TakeState>();
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const DType dtype = outputs[0]->dtype();
    return VisitBits(dtype, [&](auto bits) {
      using Bits = decltype(bits);
      return VisitIndex(inputs[1]->dtype(), [&](auto index) {
        using Index = decltype(index);
        return Launch(
            context, type().c_str(), &TakeKernel<Bits, Index>, GridFor(context, n),
            dim3(kBlockThreads), state.map, state.size, state.stride,
            static_cast<Bits>(MissingBits(dtype)), static_cast<const Bits*>(inputs[0]->raw()),
            static_cast<const Index*>(inputs[1]->raw()), static_cast<Bits*>(outputs[0]->raw()));
      });
    });
  }
};

}  // namespace

void AddGatherNdKernels(OpRegistry& registry) {
  registry.AddKernel("gather_nd", DeviceKind::kCUDA, &CreateKernel<GatherNdOp>);
  registry.AddKernel("take_along_axis", DeviceKind::kCUDA, &CreateKernel<TakeAlongAxisOp>);
}

}  // namespace pdl::cuda
