#include <memory>

#include "kernels/reduction/block_reduction.cuh"
#include "pdl/op/op_registry.h"

// `moments` is with the other reductions, in reduction.cu.

namespace pdl::cuda {
namespace {

__device__ __forceinline__ float Root(float x) { return sqrtf(x); }
__device__ __forceinline__ double Root(double x) { return sqrt(x); }

/// The stride of the elements of an operand: 0 if it is a scalar.
int64_t StepOf(llvm::ArrayRef<const Tensor*> inputs, size_t i) {
  return i < inputs.size() && inputs[i]->sizes().empty() ? 0 : 1;
}

// --- normalize ----------------------------------------------------------------------------------

/// gamma and beta may be null; gamma_step is 0 if gamma is a scalar. y may be x.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    NormalizeKernel(long long n, long long channels, long long inner, double eps, const T* x,
                    const T* mean, const T* variance, const T* gamma, long long gamma_step,
                    const T* beta, T* y) {
  using Compute = ComputeType<T>;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long channel = i / inner % channels;
    const Compute spread = Element<T>::Load(variance[channel]) + static_cast<Compute>(eps);
    const Compute scale =
        gamma == nullptr ? Compute(1) : Element<T>::Load(gamma[channel * gamma_step]);
    const Compute shift = beta == nullptr ? Compute(0) : Element<T>::Load(beta[channel]);
    const Compute distance = Element<T>::Load(x[i]) - Element<T>::Load(mean[channel]);
    y[i] = Element<T>::Store(distance * (scale / Root(spread)) + shift);
  }
}

struct NormalizeState : CallState {
  int64_t channels = 1, inner = 1;
};

class NormalizeOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Floats(), x.dtype, *this)) return error;
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = attributes().Int("axis");
    const int64_t axis = given < 0 ? given + rank : given;
    auto state = std::make_shared<NormalizeState>();
    state->channels = x.sizes[static_cast<size_t>(axis)];
    for (int64_t d = axis + 1; d < rank; ++d) state->inner *= x.sizes[static_cast<size_t>(d)];
    Preparation preparation;
    preparation.state = std::move(state);
    // If x has one dim, mean, gamma and beta may be the same array as x, so it is not overwritten.
    if (rank > 1) preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const NormalizeState& state = *context.state<NormalizeState>();
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      const auto operand = [&](size_t i) {
        return static_cast<const T*>(i < inputs.size() ? inputs[i]->raw() : nullptr);
      };
      return Launch(context, type().c_str(), &NormalizeKernel<T>, GridFor(context, n),
                    dim3(kBlockThreads), n, state.channels, state.inner, eps_, operand(0),
                    operand(1), operand(2), operand(3), StepOf(inputs, 3), operand(4),
                    static_cast<T*>(outputs[0]->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    return attributes.Get("eps", &eps_);
  }

 private:
  double eps_ = 0;
};

// --- standardize --------------------------------------------------------------------------------

/// `depth` threads pass over each row of `length` elements three times: for the mean, for the
/// variance, and to write. gamma and beta may be null; gamma_step is 0 if gamma is a scalar. y may
/// be x.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    StandardizeKernel(long long num_rows, long long length, int depth, double eps, bool center,
                      const T* x, const T* gamma, long long gamma_step, const T* beta, T* y) {
  using Value = ComputeType<T>;
  __shared__ Value shared[kBlockThreads];
  const int width = kBlockThreads / depth;
  const int thread = static_cast<int>(threadIdx.x);
  const Fold::Place place = {thread / depth, thread % depth, 1};
  const auto add = [](Value a, Value b) { return a + b; };
  const long long step = static_cast<long long>(gridDim.x) * width;
  for (long long first = static_cast<long long>(blockIdx.x) * width; first < num_rows;
       first += step) {
    const long long row = first + place.output;
    const long long begin = row < num_rows ? row * length : 0;
    const long long end = row < num_rows ? length : 0;

    // Distances from the first element: their sum is precise even if all elements are large.
    const Value near = Element<T>::Load(x[begin]);
    const Value shift = center && near - near == Value(0) ? near : Value(0);
    Value distance = 0;
    if (center) {
      Value sum = 0;
#pragma unroll 4
      for (long long i = place.part; i < end; i += depth)
        sum += Element<T>::Load(x[begin + i]) - shift;
      distance = MergeParts(shared, sum, place, depth, add) / static_cast<Value>(length);
    }
    const Value mean = shift + distance;

    Value square = 0;
#pragma unroll 4
    for (long long i = place.part; i < end; i += depth) {
      const Value d = (Element<T>::Load(x[begin + i]) - shift) - distance;
      square += d * d;
    }
    square = MergeParts(shared, square, place, depth, add);
    const Value factor =
        Value(1) / Root(square / static_cast<Value>(length) + static_cast<Value>(eps));
    // The rounding error of the mean; -0 preserves the sign of a zero.
    const Value rest = center ? ((mean - shift) - distance) * factor : Value(-0.0);
    for (long long i = place.part; i < end; i += depth) {
      Value value = (Element<T>::Load(x[begin + i]) - mean) * factor + rest;
      if (gamma != nullptr) value *= Element<T>::Load(gamma[i * gamma_step]);
      if (beta != nullptr) value += Element<T>::Load(beta[i]);
      y[begin + i] = Element<T>::Store(value);
    }
  }
}

struct StandardizeState : CallState {
  int64_t num_rows = 1, length = 1;
  int depth = 1;
};

class StandardizeOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Floats(), x.dtype, *this)) return error;
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = attributes().Int("axis");
    const int64_t axis = given < 0 ? given + rank : given;
    auto state = std::make_shared<StandardizeState>();
    for (int64_t d = 0; d < rank; ++d)
      (d < axis ? state->num_rows : state->length) *= x.sizes[static_cast<size_t>(d)];
    state->depth = ThreadsPerRow(state->length);
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const StandardizeState& state = *context.state<StandardizeState>();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      const auto operand = [&](size_t i) {
        return static_cast<const T*>(i < inputs.size() ? inputs[i]->raw() : nullptr);
      };
      return Launch(context, type().c_str(), &StandardizeKernel<T>,
                    GridFor(context, state.num_rows, kBlockThreads / state.depth),
                    dim3(kBlockThreads), state.num_rows, state.length, state.depth, eps_, center_,
                    operand(0), operand(1), StepOf(inputs, 1), operand(2),
                    static_cast<T*>(outputs[0]->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    center_ = attributes.Bool("center");
    return attributes.Get("eps", &eps_);
  }

 private:
  double eps_ = 0;
  bool center_ = true;
};

}  // namespace

void AddNormalizationKernels(OpRegistry& registry) {
  registry.AddKernel("normalize", DeviceKind::kCUDA, &CreateKernel<NormalizeOp>);
  registry.AddKernel("standardize", DeviceKind::kCUDA, &CreateKernel<StandardizeOp>);
}

}  // namespace pdl::cuda
