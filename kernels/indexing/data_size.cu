#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    RunStartsKernel(long long n, const T* x, long long* starts) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    if (i == 0) {
      starts[i] = 1;
      continue;
    }
    const auto a = Element<T>::Load(x[i - 1]), b = Element<T>::Load(x[i]);
    const bool both_nan = a != a && b != b;
    starts[i] = a != b && !both_nan ? 1 : 0;
  }
}

constexpr int kMaxDims = 64;
struct Sizes {
  int rank;
  long long size[kMaxDims];
};

__global__ void __launch_bounds__(kBlockThreads)
    CountedPlacesKernel(long long n, long long rows, Sizes sizes, const long long* counts,
                        long long* positions) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long before = i == 0 ? 0 : counts[i - 1];
    if (counts[i] == before || before < 0 || before >= rows) continue;
    long long rest = i;
    for (int axis = sizes.rank; axis-- > 0; rest /= sizes.size[axis])
      positions[before * sizes.rank + axis] = rest % sizes.size[axis];
  }
}

class RunStartsOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = inputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return VisitDType(AnyElement(), inputs[0]->dtype(), [&](auto tag) -> llvm::Error {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &RunStartsKernel<T>, GridFor(context, n),
                    dim3(kBlockThreads), n, static_cast<const T*>(inputs[0]->raw()),
                    static_cast<long long*>(outputs[0]->raw()));
    });
  }
};

class CountedPlacesOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = inputs[0]->num_elements();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    // Rows beyond the number of increases stay 0.
    CurrentDevice current(context.device());
    if (auto error =
            ToError(cudaMemsetAsync(outputs[0]->raw(), 0,
                                    static_cast<size_t>(outputs[0]->num_bytes()), context.stream()),
                    type().c_str(), context.device()))
      return error;
    if (n == 0) return llvm::Error::success();
    Sizes sizes = {static_cast<int>(inputs[0]->rank()), {}};
    for (int axis = 0; axis < sizes.rank; ++axis) sizes.size[axis] = inputs[0]->size(axis);
    return Launch(context, type().c_str(), &CountedPlacesKernel, GridFor(context, n),
                  dim3(kBlockThreads), n, outputs[0]->size(0), sizes,
                  static_cast<const long long*>(inputs[0]->raw()),
                  static_cast<long long*>(outputs[0]->raw()));
  }
};

}  // namespace

void AddDataSizeKernels(OpRegistry& registry) {
  registry.AddKernel("run_starts", DeviceKind::kCUDA, &CreateKernel<RunStartsOp>);
  registry.AddKernel("counted_places", DeviceKind::kCUDA, &CreateKernel<CountedPlacesOp>);
}

}  // namespace pdl::cuda
