#include <algorithm>
#include <memory>

#include "kernels/reduction/block_reduction.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

__device__ __forceinline__ float Exponential(float x) { return expf(x); }
__device__ __forceinline__ double Exponential(double x) { return exp(x); }
__device__ __forceinline__ float Logarithm(float x) { return logf(x); }
__device__ __forceinline__ double Logarithm(double x) { return log(x); }

// --- cross_entropy, nll -------------------------------------------------------------------------

struct LabelOptions {
  bool ignores = false;
  long long ignore_index = 0;
  double label_smoothing = 0;
};

template <class T>
__device__ __forceinline__ T Nan() {
  return T(0) * Logarithm(T(0));
}

/// `depth` threads reduce each row of `length` logits. `weights` may be null.
template <class T, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    CrossEntropyKernel(long long num_rows, long long length, int depth, LabelOptions options,
                       const T* x, const Index* labels, const T* weights, T* loss) {
  using Value = ComputeType<T>;
  __shared__ Value shared[kBlockThreads];
  const int width = kBlockThreads / depth;
  const int thread = static_cast<int>(threadIdx.x);
  const Fold::Place place = {thread / depth, thread % depth, 1};
  const auto add = [](Value a, Value b) { return a + b; };
  const auto weight = [&](long long i) {
    return weights == nullptr ? Value(1) : Element<T>::Load(weights[i]);
  };
  const long long step = static_cast<long long>(gridDim.x) * width;
  for (long long first = static_cast<long long>(blockIdx.x) * width; first < num_rows;
       first += step) {
    const long long row = first + place.output;
    const bool present = row < num_rows;
    const long long begin = present ? row * length : 0;
    const long long end = present ? length : 0;

    Value largest = length > 0 ? Element<T>::Load(x[begin]) : Value(0);
#pragma unroll 4
    for (long long i = place.part; i < end; i += depth) {
      const Value value = Element<T>::Load(x[begin + i]);
      largest = value > largest || value != value ? value : largest;
    }
    largest = MergeParts(shared, largest, place, depth,
                         [](Value a, Value b) { return a > b || a != a ? a : b; });
    Value sum = 0;
#pragma unroll 4
    for (long long i = place.part; i < end; i += depth)
      sum += Exponential(Element<T>::Load(x[begin + i]) - largest);
    sum = MergeParts(shared, sum, place, depth, add);
    const Value log_sum = Logarithm(sum);
    Value all = 0;
    if (options.label_smoothing != 0) {
      for (long long i = place.part; i < end; i += depth)
        all += weight(i) * (log_sum + (largest - Element<T>::Load(x[begin + i])));
      all = MergeParts(shared, all, place, depth, add);
    }
    if (place.part != 0 || !present) continue;
    const long long label = static_cast<long long>(labels[row]);
    Value result = Nan<Value>();
    if (options.ignores && label == options.ignore_index) {
      result = 0;
    } else if (label >= 0 && label < length) {
      result = weight(label) * (log_sum + (largest - Element<T>::Load(x[begin + label])));
      if (options.label_smoothing != 0) {
        const Value share = static_cast<Value>(options.label_smoothing);
        result = (1 - share) * result + share / static_cast<Value>(length) * all;
      }
    }
    loss[row] = Element<T>::Store(result);
  }
}

/// `weights` may be null.
template <class T, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    NllKernel(long long num_rows, long long length, LabelOptions options, const T* x,
              const Index* labels, const T* weights, T* loss) {
  using Value = ComputeType<T>;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       row < num_rows; row += step) {
    const long long label = static_cast<long long>(labels[row]);
    Value result = Nan<Value>();
    if (options.ignores && label == options.ignore_index) {
      result = 0;
    } else if (label >= 0 && label < length) {
      result = -Element<T>::Load(x[row * length + label]);
      if (weights != nullptr) result *= Element<T>::Load(weights[label]);
    }
    loss[row] = Element<T>::Store(result);
  }
}

struct LabelLossState : CallState {
  int64_t num_rows = 0, length = 0;
  int depth = 1;
};

template <bool kNll>
class LabelLossOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Floats(), x.dtype, *this)) return error;
    auto state = std::make_shared<LabelLossState>();
    state->num_rows = context.outputs()[0].num_elements();
    state->length = x.sizes.back();
    state->depth = ThreadsPerRow(state->length);
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const LabelLossState& state = *context.state<LabelLossState>();
    if (state.num_rows == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      const auto launch = [&](auto zero) {
        using Index = decltype(zero);
        const T* x = static_cast<const T*>(inputs[0]->raw());
        const Index* labels = static_cast<const Index*>(inputs[1]->raw());
        const T* weights = static_cast<const T*>(inputs.size() > 2 ? inputs[2]->raw() : nullptr);
        T* loss = static_cast<T*>(outputs[0]->raw());
        if constexpr (kNll) {
          return Launch(context, type().c_str(), &NllKernel<T, Index>,
                        GridFor(context, state.num_rows), dim3(kBlockThreads), state.num_rows,
                        state.length, options_, x, labels, weights, loss);
        } else {
          return Launch(context, type().c_str(), &CrossEntropyKernel<T, Index>,
                        GridFor(context, state.num_rows, kBlockThreads / state.depth),
                        dim3(kBlockThreads), state.num_rows, state.length, state.depth, options_, x,
                        labels, weights, loss);
        }
      };
      return inputs[1]->dtype() == DType::kI64 ? launch(static_cast<long long>(0)) : launch(0);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    options_.ignores = attributes.Has("ignore_index");
    if (options_.ignores) options_.ignore_index = attributes.Int("ignore_index");
    if (attributes.Has("label_smoothing"))
      options_.label_smoothing = attributes.Float("label_smoothing");
    return llvm::Error::success();
  }

 private:
  LabelOptions options_;
};

// --- mse ----------------------------------------------------------------------------------------

/// Each block writes the sum of its piece of `length` elements.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SquaredDistanceKernel(long long n, long long length, const T* x, const T* y, double* sums) {
  __shared__ double shared[kBlockThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const long long begin = blockIdx.x * length;
  const long long end = n - begin < length ? n : begin + length;
  double sum = 0;
#pragma unroll 4
  for (long long i = begin + thread; i < end; i += kBlockThreads) {
    const double distance =
        static_cast<double>(Element<T>::Load(x[i])) - static_cast<double>(Element<T>::Load(y[i]));
    sum += distance * distance;
  }
  sum = MergeParts(shared, sum, {0, thread, 1}, kBlockThreads,
                   [](double a, double b) { return a + b; });
  if (thread == 0) sums[blockIdx.x] = sum;
}

/// Runs in one block.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    MeanKernel(long long n, int num_sums, const double* sums, T* y) {
  __shared__ double shared[kBlockThreads];
  const int thread = static_cast<int>(threadIdx.x);
  double sum = 0;
  for (int i = thread; i < num_sums; i += kBlockThreads) sum += sums[i];
  sum = MergeParts(shared, sum, {0, thread, 1}, kBlockThreads,
                   [](double a, double b) { return a + b; });
  if (thread == 0)
    *y = Element<T>::Store(static_cast<ComputeType<T>>(sum / static_cast<double>(n)));
}

class MseOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Floats(), x.dtype, *this)) return error;
    Preparation preparation;
    preparation.workspace_bytes = NumPieces(x.num_elements()) * int64_t{sizeof(double)};
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = inputs[0]->num_elements();
    const int64_t pieces = NumPieces(n);
    const int64_t length = (n + pieces - 1) / pieces;
    auto* sums = static_cast<double*>(context.workspace());
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) -> llvm::Error {
      using T = typename decltype(tag)::Type;
      if (auto error = Launch(context, type().c_str(), &SquaredDistanceKernel<T>,
                              dim3(static_cast<unsigned>(pieces)), dim3(kBlockThreads), n, length,
                              static_cast<const T*>(inputs[0]->raw()),
                              static_cast<const T*>(inputs[1]->raw()), sums))
        return error;
      return Launch(context, type().c_str(), &MeanKernel<T>, dim3(1), dim3(kBlockThreads), n,
                    static_cast<int>(pieces), static_cast<const double*>(sums),
                    static_cast<T*>(outputs[0]->raw()));
    });
  }

 private:
  /// Depends on the size only, so that all GPUs give the same bits.
  static int64_t NumPieces(int64_t n) {
    constexpr int64_t kPiece = kBlockThreads * 16;
    return std::clamp<int64_t>((n + kPiece - 1) / kPiece, 1, 1024);
  }
};

}  // namespace

void AddLossKernels(OpRegistry& registry) {
  registry.AddKernel("cross_entropy", DeviceKind::kCUDA, &CreateKernel<LabelLossOp<false>>);
  registry.AddKernel("nll", DeviceKind::kCUDA, &CreateKernel<LabelLossOp<true>>);
  registry.AddKernel("mse", DeviceKind::kCUDA, &CreateKernel<MseOp>);
}

}  // namespace pdl::cuda
