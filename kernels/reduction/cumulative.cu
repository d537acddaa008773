#include <memory>
#include <type_traits>

#include "kernels/reduction/block_reduction.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

// --- Scans. Value is the partial result of a thread, Load makes one from element `at`, Join
// combines two in order, and Result converts one to an element. ---------------------------------

/// Floats are accumulated in double; integers wrap around.
template <class T, bool kProduct>
struct Cumulative {
  using Compute = ComputeType<T>;
  using Value = std::conditional_t<kIsFloat<Compute>, double, unsigned long long>;
  const T* x;

  static __device__ Value Nothing() { return kProduct ? 1 : 0; }
  __device__ Value Load(long long at) const { return static_cast<Value>(Element<T>::Load(x[at])); }
  static __device__ Value Join(Value a, Value b) { return kProduct ? a * b : a + b; }
  static __device__ T Result(Value value) { return Element<T>::Store(static_cast<Compute>(value)); }
};

/// y = factor * (previous y) + sum.
template <class T>
struct Recurrence {
  struct Value {
    double factor, sum;
  };
  const T* x;
  const T* decay;

  static __device__ Value Nothing() { return {1, 0}; }
  __device__ Value Load(long long at) const {
    return {static_cast<double>(Element<T>::Load(decay[at])),
            static_cast<double>(Element<T>::Load(x[at]))};
  }
  static __device__ Value Join(Value a, Value b) {
    return {a.factor * b.factor, b.factor * a.sum + b.sum};
  }
  static __device__ T Result(Value value) {
    return Element<T>::Store(static_cast<ComputeType<T>>(value.sum));
  }
};

// --- Kernel -------------------------------------------------------------------------------------

/// Each of the fold's outputs is a row, which `fold.depth` threads process together, `fold.depth`
/// elements at a time. y may be an operand.
template <class Scan, class T>
__global__ void __launch_bounds__(kBlockThreads)
    ScanKernel(const __grid_constant__ Fold fold, bool exclusive, bool reverse, Scan scan, T* y) {
  using Value = typename Scan::Value;
  __shared__ Value shared[kBlockThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const Fold::Place place = fold.At(thread);
  const int width = kBlockThreads / fold.depth;
  const int last = thread + (fold.depth - 1 - place.part) * place.stride;
  const long long num_rows = fold.outputs.num_elements;
  const long long length = fold.folded.num_elements;

  const long long step = static_cast<long long>(gridDim.x) * width;
  for (long long first = static_cast<long long>(blockIdx.x) * width; first < num_rows;
       first += step) {
    const long long row = first + place.output;
    const long long begin = row < num_rows ? fold.outputs.At(row).at[0] : 0;
    Value carry = Scan::Nothing();
    for (long long tile = 0; tile < length; tile += fold.depth) {
      const long long i = tile + place.part;
      const bool present = row < num_rows && i < length;
      const long long at = present ? begin + fold.folded.At(reverse ? length - 1 - i : i).at[0] : 0;
      Value value = Scan::Nothing();
      if (present) value = scan.Load(at);

      __syncthreads();  // other threads may still be reading the values of the previous tile
      shared[thread] = value;
      __syncthreads();
      for (int distance = 1; distance < fold.depth; distance *= 2) {
        if (place.part >= distance)
          value = Scan::Join(shared[thread - distance * place.stride], value);
        __syncthreads();
        shared[thread] = value;
        __syncthreads();
      }
      if (present) {
        if (exclusive) value = place.part == 0 ? Scan::Nothing() : shared[thread - place.stride];
        y[at] = Scan::Result(tile == 0 ? value : Scan::Join(carry, value));
      }
      carry = tile == 0 ? shared[last] : Scan::Join(carry, shared[last]);
    }
  }
}

// --- Operators ----------------------------------------------------------------------------------

struct ScanState : CallState {
  Fold fold;
};

template <class Types, unsigned kInputs>
class ScanOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Types(), x.dtype, *this)) return error;
    const int64_t axis = attributes().Int("axis");
    llvm::SmallVector<bool, 8> folded(x.sizes.size(), false);
    folded[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.sizes.size()) : axis)] =
        true;
    auto fold = MakeFold(x.sizes, folded);
    if (!fold) return fold.takeError();
    auto state = std::make_shared<ScanState>();
    state->fold = *fold;
    Preparation preparation;
    preparation.state = std::move(state);
    for (unsigned i = 0; i < kInputs; ++i) preparation.in_place.push_back({0, i});
    return preparation;
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    reverse_ = attributes.Bool("reverse");
    if (attributes.Has("exclusive")) exclusive_ = attributes.Bool("exclusive");
    return llvm::Error::success();
  }

  template <class T, class Scan>
  llvm::Error LaunchScan(const Scan& scan, Tensor& y, CUDAContext& context) const {
    const Fold& fold = context.state<ScanState>()->fold;
    return Launch(context, type().c_str(), &ScanKernel<Scan, T>,
                  GridFor(context, fold.outputs.num_elements, kBlockThreads / fold.depth),
                  dim3(kBlockThreads), fold, exclusive_, reverse_, scan, static_cast<T*>(y.raw()));
  }

 private:
  bool exclusive_ = false, reverse_ = false;
};

template <bool kProduct>
class CumulativeOp : public ScanOp<Numbers, 1> {
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(Numbers(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      const Cumulative<T, kProduct> scan = {static_cast<const T*>(inputs[0]->raw())};
      return LaunchScan<T>(scan, *outputs[0], context);
    });
  }
};

class LinearRecurrenceOp : public ScanOp<Floats, 2> {
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      const Recurrence<T> scan = {static_cast<const T*>(inputs[0]->raw()),
                                  static_cast<const T*>(inputs[1]->raw())};
      return LaunchScan<T>(scan, *outputs[0], context);
    });
  }
};

}  // namespace

void AddCumulativeKernels(OpRegistry& registry) {
  registry.AddKernel("cumsum", DeviceKind::kCUDA, &CreateKernel<CumulativeOp<false>>);
  registry.AddKernel("cumprod", DeviceKind::kCUDA, &CreateKernel<CumulativeOp<true>>);
  registry.AddKernel("linear_recurrence", DeviceKind::kCUDA, &CreateKernel<LinearRecurrenceOp>);
}

}  // namespace pdl::cuda
