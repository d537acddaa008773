#include <memory>

#include "kernels/cuda_ops.h"
#include "kernels/reduction.cuh"

namespace pdl::cuda {
namespace {

__device__ __forceinline__ float Exponential(float x) { return expf(x); }
__device__ __forceinline__ double Exponential(double x) { return exp(x); }

/// Each of the fold's outputs is a row: its largest element is taken off before the exponential, so
/// that none overflows. y may be x.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SoftmaxKernel(const __grid_constant__ Fold fold, const T* x, T* y) {
  using Value = ComputeType<T>;
  __shared__ Value shared[kBlockThreads];
  const Fold::Place place = fold.At(threadIdx.x);
  const int width = kBlockThreads / fold.depth;
  const long long num_rows = fold.outputs.num_elements;
  const long long length = fold.folded.num_elements;

  const long long step = static_cast<long long>(gridDim.x) * width;
  for (long long first = static_cast<long long>(blockIdx.x) * width; first < num_rows;
       first += step) {
    const long long row = first + place.output;
    const bool present = row < num_rows;
    const long long begin = present ? fold.outputs.At(row).at[0] : 0;
    const long long end = present ? length : 0;

    Value largest = Element<T>::Load(x[begin]);
#pragma unroll 4
    for (long long i = place.part; i < end; i += fold.depth) {
      const Value value = Element<T>::Load(x[begin + fold.folded.At(i).at[0]]);
      largest = value > largest || value != value ? value : largest;
    }
    largest = MergeParts(shared, largest, place, fold.depth,
                         [](Value a, Value b) { return a > b || a != a ? a : b; });

    Value sum = 0;
#pragma unroll 4
    for (long long i = place.part; i < end; i += fold.depth)
      sum += Exponential(Element<T>::Load(x[begin + fold.folded.At(i).at[0]]) - largest);
    sum = MergeParts(shared, sum, place, fold.depth, [](Value a, Value b) { return a + b; });

    for (long long i = place.part; i < end; i += fold.depth) {
      const long long at = begin + fold.folded.At(i).at[0];
      y[at] = Element<T>::Store(Exponential(Element<T>::Load(x[at]) - largest) / sum);
    }
  }
}

struct SoftmaxState : CallState {
  Fold fold;
};

class SoftmaxOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    if (auto error = RequireDType(Floats(), input.dtype, *this)) return error;
    const int64_t rank = static_cast<int64_t>(input.sizes.size());
    const int64_t axis = attributes().Int("axis");
    llvm::SmallVector<bool, 8> folded(input.sizes.size(), false);
    folded[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
    auto fold = MakeFold(input.sizes, folded);
    if (!fold) return fold.takeError();
    auto state = std::make_shared<SoftmaxState>();
    state->fold = *fold;
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const Fold& fold = context.state<SoftmaxState>()->fold;
    if (inputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &SoftmaxKernel<T>,
                    GridFor(context, fold.outputs.num_elements, kBlockThreads / fold.depth),
                    dim3(kBlockThreads), fold, static_cast<const T*>(inputs[0]->raw()),
                    static_cast<T*>(outputs[0]->raw()));
    });
  }
};

}  // namespace

void AddSoftmaxKernels(OpRegistry& registry) {
  registry.AddKernel("softmax", DeviceKind::kCUDA, &CreateKernel<SoftmaxOp>);
}

}  // namespace pdl::cuda
