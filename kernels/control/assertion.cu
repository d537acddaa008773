#include <memory>

#include "kernels/control/assertion.h"
#include "kernels/cuda/cuda_launch.h"
#include "kernels/cuda/deferred_check.h"
#include "kernels/indexing/index_range.cuh"
#include "pdl/op/op_registry.h"
#include "runtime/call_error.h"

namespace pdl::cuda {
namespace {

/// Whether a condition holds.
struct IsTrue {
  __device__ bool operator()(bool x) const { return x; }
};
/// Whether an index is in 0..below.
struct IsBelow {
  long long below;
  template <class Index>
  __device__ bool operator()(Index x) const {
    return x >= 0 && static_cast<long long>(x) < below;
  }
};

/// Reports the first element that does not pass, unless a check of this run failed before. One
/// block.
template <class T, class Passes>
__global__ void __launch_bounds__(kBlockThreads)
    CheckKernel(const T* x, long long count, Passes passes, const DeferredCheck* check,
                CheckFailure* failure) {
  __shared__ long long first[kBlockThreads];
  first[threadIdx.x] = count;
  for (long long i = threadIdx.x; i < count; i += kBlockThreads) {
    if (passes(x[i])) continue;
    first[threadIdx.x] = i;
    break;
  }
  __syncthreads();
  if (threadIdx.x != 0 || failure->check != nullptr) return;
  long long least = count;
  for (int i = 0; i < kBlockThreads; ++i)
    if (first[i] < least) least = first[i];
  if (least == count) return;
  failure->element = least;
  failure->value = static_cast<long long>(x[least]);
  failure->check = check;
}

/// A call with the sizes of its operand.
struct CheckState : CallState, DeferredCheck {
  const OperatorBase* op = nullptr;
  Sizes sizes;
};

struct AssertionState : CheckState {
  llvm::Error Failure(int64_t element, int64_t) const override {
    return AboutCall(op->arguments(), AssertionFailure(op->attributes(), element, sizes));
  }
};

struct IndexState : CheckState {
  int64_t below = 0;
  llvm::Error Failure(int64_t element, int64_t value) const override {
    return AboutCall(op->arguments(), IndexFailure(value, below, element, sizes));
  }
};

/// Launches a check of the operand's elements.
template <class T, class Passes>
llvm::Error LaunchCheck(const CheckState& state, const Tensor& x, Passes passes,
                        CUDAContext& context) {
  const int64_t count = x.num_elements();
  if (count == 0) return llvm::Error::success();
  return LaunchWithFailure(context, [&](CUDAContext& run, CheckFailure* failure) {
    return Launch(run, state.op->type().c_str(), &CheckKernel<T, Passes>, dim3(1),
                  dim3(kBlockThreads), static_cast<const T*>(x.raw()), count, passes,
                  static_cast<const DeferredCheck*>(&state), failure);
  });
}

class AssertTrueOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<AssertionState>();
    state->op = this;
    state->sizes = context.inputs()[0].sizes;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    CurrentDevice current(context.device());
    if (auto error = ToError(cudaMemsetAsync(outputs[0]->raw(), 1, 1, context.stream()),
                             type().c_str(), context.device()))
      return error;
    return LaunchCheck<bool>(*context.state<AssertionState>(), *inputs[0], IsTrue(), context);
  }
};

class CheckIndexOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    llvm::Expected<int64_t> below = context.Evaluate(attributes().Dims("below")[0]);
    if (!below) return below.takeError();
    auto state = std::make_shared<IndexState>();
    state->op = this;
    state->sizes = context.inputs()[0].sizes;
    state->below = *below;
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (inputs[0]->raw() != outputs[0]->raw()) {
      if (auto error =
              context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes()))
        return error;
    }
    const IndexState& state = *context.state<IndexState>();
    return VisitIndex(inputs[0]->dtype(), [&](auto index) {
      return LaunchCheck<decltype(index)>(state, *inputs[0], IsBelow{state.below}, context);
    });
  }
};

}  // namespace

void AddAssertionKernels(OpRegistry& registry) {
  registry.AddKernel("assert_true", DeviceKind::kCUDA, &CreateKernel<AssertTrueOp>);
  registry.AddKernel("check_index", DeviceKind::kCUDA, &CreateKernel<CheckIndexOp>);
}

}  // namespace pdl::cuda
