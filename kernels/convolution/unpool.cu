#include <algorithm>

#include "kernels/convolution/columns.cuh"
#include "kernels/convolution/depth_space.h"
#include "kernels/cuda/cuda_copying_op.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// A block for each plane. Each thread owns a share of the plane's indices and adds the elements
/// that go there in their order, so that the sums do not depend on the order of threads.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    MaxUnpoolKernel(int64_t planes, int64_t from, int64_t to, const long long* indices, const T* x,
                    T* y) {
  __shared__ long long places[kBlockThreads];
  __shared__ SumType<T> values[kBlockThreads];
  const int thread = static_cast<int>(threadIdx.x);
  for (int64_t plane = blockIdx.x; plane < planes; plane += gridDim.x) {
    T* out = y + plane * to;
    for (int64_t i = thread; i < to; i += kBlockThreads) out[i] = T{};
    for (int64_t begin = 0; begin < from; begin += kBlockThreads) {
      const int64_t i = plane * from + begin + thread;
      const bool present = begin + thread < from;
      __syncthreads();  // the previous ones are still being read
      places[thread] = present ? indices[i] : -1;
      values[thread] = present ? static_cast<SumType<T>>(Element<T>::Load(x[i])) : SumType<T>(0);
      __syncthreads();
      for (int k = 0; k < kBlockThreads; ++k) {
        const long long place = places[k];
        if (place < 0 || place >= to || place % kBlockThreads != thread) continue;
        const SumType<T> sum = static_cast<SumType<T>>(Element<T>::Load(out[place])) + values[k];
        out[place] = Element<T>::Store(static_cast<ComputeType<T>>(sum));
      }
    }
  }
}

template <class Bits>
__global__ void __launch_bounds__(kBlockThreads)
    PlaneGatherKernel(int64_t count, int64_t from, int64_t to, const long long* indices,
                      const Bits* x, Bits* y) {
  for (int64_t i = ThreadNumber(); i < count; i += ThreadStep()) {
    const long long place = indices[i];
    y[i] = place >= 0 && place < from ? x[i / to * from + place] : Bits(0);
  }
}

class MaxUnpoolOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Numbers(), context.inputs()[0].dtype, *this)) return error;
    return Preparation();
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const int64_t planes = outputs[0]->sizes()[0] * outputs[0]->sizes()[1];
    return VisitDType(Numbers(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &MaxUnpoolKernel<T>, GridFor(context, planes, 1),
                    dim3(kBlockThreads), planes, inputs[0]->num_elements() / planes,
                    outputs[0]->num_elements() / planes,
                    static_cast<const long long*>(inputs[1]->raw()),
                    static_cast<const T*>(inputs[0]->raw()), static_cast<T*>(outputs[0]->raw()));
    });
  }
};

class PlaneGatherOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t count = outputs[0]->num_elements();
    if (count == 0) return llvm::Error::success();
    const int64_t planes = outputs[0]->sizes()[0] * outputs[0]->sizes()[1];
    return VisitBits(outputs[0]->dtype(), [&](auto bits) {
      using Bits = decltype(bits);
      return Launch(context, type().c_str(), &PlaneGatherKernel<Bits>, GridFor(context, count),
                    dim3(kBlockThreads), count, inputs[0]->num_elements() / planes, count / planes,
                    static_cast<const long long*>(inputs[1]->raw()),
                    static_cast<const Bits*>(inputs[0]->raw()),
                    static_cast<Bits*>(outputs[0]->raw()));
    });
  }
};

/// A copy in the order of the result, through the view of DepthSpaceView.
template <bool kToSpace>
class DepthSpaceOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    const StridedView view = DepthSpaceView(x.sizes, attributes().Int("block"),
                                            attributes().String("mode") == "dcr", kToSpace);
    const Sizes to = DenseStrides(view.sizes);
    auto copy = StridedCopy::Create(view.sizes, {view.strides, 0}, {to, 0}, DTypeSize(x.dtype));
    if (!copy) return copy.takeError();
    auto state = std::make_shared<CopyState>();
    state->copies.push_back(*copy);
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return context.state<CopyState>()->copies[0].Run(context, type().c_str(), inputs[0]->raw(),
                                                     outputs[0]->raw());
  }
};

}  // namespace

void AddUnpoolKernels(OpRegistry& registry) {
  registry.AddKernel("max_unpool", DeviceKind::kCUDA, &CreateKernel<MaxUnpoolOp>);
  registry.AddKernel("plane_gather", DeviceKind::kCUDA, &CreateKernel<PlaneGatherOp>);
  registry.AddKernel("depth_to_space", DeviceKind::kCUDA, &CreateKernel<DepthSpaceOp<true>>);
  registry.AddKernel("space_to_depth", DeviceKind::kCUDA, &CreateKernel<DepthSpaceOp<false>>);
}

}  // namespace pdl::cuda
