#include <memory>
#include <type_traits>

#include "kernels/core/axis_split.h"
#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

using Bytes = TypeList<signed char, unsigned char>;
using Quantized = TypeList<signed char, unsigned char, int>;

__device__ __forceinline__ float NearestEven(float x) { return rintf(x); }
__device__ __forceinline__ double NearestEven(double x) { return rint(x); }

template <class T, class Q>
struct QuantizeFormula {
  using In = T;
  using Out = Q;
  using C = ComputeType<T>;
  static __device__ Q Apply(T x, C scale, C zero) {
    constexpr C kLeast = Q(-1) < Q(0) ? -128 : 0, kMost = Q(-1) < Q(0) ? 127 : 255;
    const C y = NearestEven(Element<T>::Load(x) / scale) + zero;
    // Also if y is nan.
    if (!(y > kLeast)) return static_cast<Q>(static_cast<int>(kLeast));
    return static_cast<Q>(static_cast<int>(y < kMost ? y : kMost));
  }
};

template <class T, class Q>
struct DequantizeFormula {
  using In = Q;
  using Out = T;
  // i32 requires double, in which the difference to the zero point is exact.
  using C = std::conditional_t<sizeof(Q) == 4, double, ComputeType<T>>;
  static __device__ T Apply(Q x, C scale, C zero) {
    return Element<T>::Store(static_cast<ComputeType<T>>((static_cast<C>(x) - zero) * scale));
  }
};

/// `zeros` may be null. `channels` is 1 for a single scale.
template <class F, class Scale, class Zero>
__global__ void __launch_bounds__(kBlockThreads)
    QuantizeKernel(long long n, long long channels, long long inner, const typename F::In* x,
                   const Scale* scales, const Zero* zeros, typename F::Out* y) {
  using C = typename F::C;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long channel = channels == 1 ? 0 : i / inner % channels;
    const C scale = static_cast<C>(Element<Scale>::Load(scales[channel]));
    const C zero = zeros == nullptr ? C(0) : static_cast<C>(zeros[channel]);
    y[i] = F::Apply(x[i], scale, zero);
  }
}

struct QuantizeState : CallState {
  int64_t channels = 1, inner = 1;
};

template <template <class, class> class Formula, class Types, bool kQuantizes>
class QuantizationOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Floats(), context.inputs()[1].dtype, *this)) return error;
    auto state = std::make_shared<QuantizeState>();
    if (!context.inputs()[1].sizes.empty()) {
      const AxisSplit split = SplitAtAxis(x.sizes, attributes().Int("axis"));
      state->channels = split.length;
      state->inner = split.inner;
    }
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const QuantizeState& state = *context.state<QuantizeState>();
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const DType quantized = kQuantizes ? outputs[0]->dtype() : inputs[0]->dtype();
    return VisitDType(Floats(), inputs[1]->dtype(), [&](auto real) {
      return VisitDType(Types(), quantized, [&](auto tag) {
        using T = typename decltype(real)::Type;
        using Q = typename decltype(tag)::Type;
        using F = Formula<T, Q>;
        const Q* zeros = static_cast<const Q*>(inputs.size() > 2 ? inputs[2]->raw() : nullptr);
        return Launch(context, type().c_str(), &QuantizeKernel<F, T, Q>, GridFor(context, n),
                      dim3(kBlockThreads), n, state.channels, state.inner,
                      static_cast<const typename F::In*>(inputs[0]->raw()),
                      static_cast<const T*>(inputs[1]->raw()), zeros,
                      static_cast<typename F::Out*>(outputs[0]->raw()));
      });
    });
  }
};

}  // namespace

void AddQuantizeKernels(OpRegistry& registry) {
  registry.AddKernel("quantize", DeviceKind::kCUDA,
                     &CreateKernel<QuantizationOp<QuantizeFormula, Bytes, true>>);
  registry.AddKernel("dequantize", DeviceKind::kCUDA,
                     &CreateKernel<QuantizationOp<DequantizeFormula, Quantized, false>>);
}

}  // namespace pdl::cuda
