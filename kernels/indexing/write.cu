#include <memory>

#include "kernels/indexing/index_range.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// x is `outer` blocks of `size` rows of `inner` elements, the value as many blocks of `count`
/// rows.
struct WriteShape {
  long long outer = 1, size = 0, count = 0, inner = 1;
};

struct WriteState : CallState {
  WriteShape shape;
};

template <class Bits, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    WriteKernel(WriteShape shape, const Bits* value, const Index* position, Bits* y) {
  long long at = static_cast<long long>(*position);
  if (at < 0) at += shape.size;
  const long long n = shape.outer * shape.count * shape.inner;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long row = i / shape.inner;
    const long long block = row / shape.count;
    // Written so that no intermediate result overflows.
    const long long within = row - block * shape.count;
    if (at < -within || at >= shape.size - within) continue;
    y[(block * shape.size + at + within) * shape.inner + (i - row * shape.inner)] = value[i];
  }
}

class WriteOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(AnyElement(), x.dtype, *this)) return error;
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = attributes().Int("axis");
    const int64_t axis = given < 0 ? given + rank : given;
    auto state = std::make_shared<WriteState>();
    WriteShape& shape = state->shape;
    shape.size = x.sizes[static_cast<size_t>(axis)];
    shape.count = context.inputs()[1].sizes[static_cast<size_t>(axis)];
    for (int64_t d = 0; d < rank; ++d) {
      if (d < axis) shape.outer *= x.sizes[static_cast<size_t>(d)];
      if (d > axis) shape.inner *= x.sizes[static_cast<size_t>(d)];
    }
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const WriteShape& shape = context.state<WriteState>()->shape;
    if (inputs[0]->raw() != outputs[0]->raw()) {
      if (auto error =
              context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes()))
        return error;
    }
    if (inputs[1]->num_elements() == 0) return llvm::Error::success();
    return VisitBits(outputs[0]->dtype(), [&](auto zero) {
      using Bits = decltype(zero);
      return VisitIndex(inputs[2]->dtype(), [&](auto index) {
        using Index = decltype(index);
        return Launch(context, type().c_str(), &WriteKernel<Bits, Index>,
                      GridFor(context, inputs[1]->num_elements()), dim3(kBlockThreads), shape,
                      static_cast<const Bits*>(inputs[1]->raw()),
                      static_cast<const Index*>(inputs[2]->raw()),
                      static_cast<Bits*>(outputs[0]->raw()));
      });
    });
  }
};

}  // namespace

void AddWriteKernels(OpRegistry& registry) {
  registry.AddKernel("write", DeviceKind::kCUDA, &CreateKernel<WriteOp>);
}

}  // namespace pdl::cuda
