#include "kernels/creation/permutation.h"
#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"
#include "runtime/philox.h"

namespace pdl::cuda {
namespace {

/// Element i of a uniform stream, in [0, 1).
__device__ __forceinline__ void UnitAt(random::Stream stream, long long i, float* unit) {
  const random::Words words = random::Philox(stream, static_cast<uint64_t>(i / 4));
  const int position = static_cast<int>(i % 4);
  *unit = random::UnitFloat(position == 0   ? words.w0
                            : position == 1 ? words.w1
                            : position == 2 ? words.w2
                                            : words.w3);
}
__device__ __forceinline__ void UnitAt(random::Stream stream, long long i, double* unit) {
  const random::Words words = random::Philox(stream, static_cast<uint64_t>(i / 2));
  *unit =
      i % 2 == 0 ? random::UnitDouble(words.w0, words.w1) : random::UnitDouble(words.w2, words.w3);
}

template <class T, class Out>
__global__ void __launch_bounds__(kBlockThreads)
    BernoulliKernel(random::Stream stream, const T* p, Out* y, long long n) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    ComputeType<T> unit;
    UnitAt(stream, i, &unit);
    const bool one = unit < Element<T>::Load(p[i]);
    y[i] = Element<Out>::Store(static_cast<ComputeType<Out>>(one));
  }
}

class BernoulliOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Floats(), context.inputs()[0].dtype, *this)) return error;
    if (auto error = RequireDType(AnyElement(), context.outputs()[0].dtype, *this)) return error;
    return Preparation();
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const random::Stream stream =
        random::MakeStream(context.random().seed, context.random().run_count, stream_key());
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto in) {
      return VisitDType(AnyElement(), outputs[0]->dtype(), [&](auto out) {
        using In = typename decltype(in)::Type;
        using Out = typename decltype(out)::Type;
        return Launch(context, type().c_str(), &BernoulliKernel<In, Out>, GridFor(context, n),
                      dim3(kBlockThreads), stream, static_cast<const In*>(inputs[0]->raw()),
                      static_cast<Out*>(outputs[0]->raw()), n);
      });
    });
  }
};

__global__ void __launch_bounds__(kBlockThreads)
    RandpermKernel(random::Permutation permutation, long long* y) {
  const long long n = static_cast<long long>(permutation.n);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    y[i] = static_cast<long long>(permutation.At(static_cast<uint64_t>(i)));
}

class RandpermOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const random::Stream stream =
        random::MakeStream(context.random().seed, context.random().run_count, stream_key());
    return Launch(context, type().c_str(), &RandpermKernel, GridFor(context, n),
                  dim3(kBlockThreads), random::MakePermutation(stream, n),
                  static_cast<long long*>(outputs[0]->raw()));
  }
};

}  // namespace

void AddRandomChoiceKernels(OpRegistry& registry) {
  registry.AddKernel("bernoulli", DeviceKind::kCUDA, &CreateKernel<BernoulliOp>);
  registry.AddKernel("randperm", DeviceKind::kCUDA, &CreateKernel<RandpermOp>);
}

}  // namespace pdl::cuda
