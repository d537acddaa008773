#include <memory>
#include <type_traits>

#include "kernels/cuda_launch.h"
#include "kernels/cuda_ops.h"

namespace pdl::cuda {
namespace {

/// A thread goes along each column of the axis. Floats are accumulated in double, integers wrap
/// around. y may be x.
template <class T, bool kProduct>
__global__ void __launch_bounds__(kBlockThreads)
    ScanKernel(long long columns, long long length, long long inner, bool exclusive, bool reverse,
               const T* x, T* y) {
  using Compute = ComputeType<T>;
  using Value = std::conditional_t<kIsFloat<Compute>, double, unsigned long long>;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long column = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       column < columns; column += threads) {
    const long long block = column / inner;
    long long at = block * length * inner + (column - block * inner);
    if (reverse) at += (length - 1) * inner;
    const long long step = reverse ? -inner : inner;
    Value value = kProduct ? 1 : 0;
    for (long long i = 0; i < length; ++i, at += step) {
      const Value before = value;
      const Value element = static_cast<Value>(Element<T>::Load(x[at]));
      value = kProduct ? value * element : value + element;
      const Value result = exclusive ? before : value;
      y[at] = Element<T>::Store(static_cast<Compute>(result));
    }
  }
}

struct ScanState : CallState {
  int64_t outer = 1, length = 1, inner = 1;
};

template <bool kProduct>
class ScanOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Numbers(), x.dtype, *this)) return error;
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = attributes().Int("axis");
    const int64_t axis = given < 0 ? given + rank : given;
    auto state = std::make_shared<ScanState>();
    for (int64_t d = 0; d < rank; ++d) {
      (d < axis   ? state->outer
       : d > axis ? state->inner
                  : state->length) *= x.sizes[static_cast<size_t>(d)];
    }
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const ScanState& state = *context.state<ScanState>();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const int64_t columns = state.outer * state.inner;
    return VisitDType(Numbers(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &ScanKernel<T, kProduct>, GridFor(context, columns),
                    dim3(kBlockThreads), columns, state.length, state.inner, exclusive_, reverse_,
                    static_cast<const T*>(inputs[0]->raw()), static_cast<T*>(outputs[0]->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    exclusive_ = attributes.Bool("exclusive");
    reverse_ = attributes.Bool("reverse");
    return llvm::Error::success();
  }

 private:
  bool exclusive_ = false, reverse_ = false;
};

}  // namespace

void AddScanKernels(OpRegistry& registry) {
  registry.AddKernel("cumsum", DeviceKind::kCUDA, &CreateKernel<ScanOp<false>>);
  registry.AddKernel("cumprod", DeviceKind::kCUDA, &CreateKernel<ScanOp<true>>);
}

}  // namespace pdl::cuda
