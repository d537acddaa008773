#include <memory>

#include "kernels/reduction/block_reduction.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

// --- softmax ------------------------------------------------------------------------------------

__device__ __forceinline__ float Exponential(float x) { return expf(x); }
__device__ __forceinline__ double Exponential(double x) { return exp(x); }
__device__ __forceinline__ float Logarithm(float x) { return logf(x); }
__device__ __forceinline__ double Logarithm(double x) { return log(x); }

/// Each of the fold's outputs is a row; kLog selects the logarithm of the softmax. The maximum of a
/// row is subtracted before the exponential to avoid overflow. y may be x.
template <class T, bool kLog>
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

    const Value log_sum = kLog ? Logarithm(sum) : Value(0);
    for (long long i = place.part; i < end; i += fold.depth) {
      const long long at = begin + fold.folded.At(i).at[0];
      const Value distance = Element<T>::Load(x[at]) - largest;
      y[at] = Element<T>::Store(kLog ? distance - log_sum : Exponential(distance) / sum);
    }
  }
}

struct SoftmaxState : CallState {
  Fold fold;
};

template <bool kLog>
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
      return Launch(context, type().c_str(), &SoftmaxKernel<T, kLog>,
                    GridFor(context, fold.outputs.num_elements, kBlockThreads / fold.depth),
                    dim3(kBlockThreads), fold, static_cast<const T*>(inputs[0]->raw()),
                    static_cast<T*>(outputs[0]->raw()));
    });
  }
};

// --- cos_sim ------------------------------------------------------------------------------------

/// The three sums from which the cosine of the angle between two rows is computed.
struct Products {
  double xx, xy, yy;
};

/// A power of two that scales `largest` to about 1; 1 for zero, infinity and nan.
__device__ __forceinline__ double UnitFactor(double largest) {
  if (largest == 0 || !(largest <= 1.7976931348623157e308)) return 1;
  int exponent = 0;
  frexp(largest, &exponent);
  return ldexp(1.0, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

/// Processes dense x and y row by row. The sums are doubles, in which squares of floats neither
/// overflow nor underflow; rows of doubles are first scaled to about 1.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    CosSimKernel(long long num_rows, long long length, int depth, double scale, const T* x,
                 const T* y, T* z) {
  __shared__ Products shared[kBlockThreads];
  const int width = kBlockThreads / depth;
  const int thread = static_cast<int>(threadIdx.x);
  const Fold::Place place = {thread / depth, thread % depth, 1};
  const long long step = static_cast<long long>(gridDim.x) * width;
  for (long long first = static_cast<long long>(blockIdx.x) * width; first < num_rows;
       first += step) {
    const long long row = first + place.output;
    const long long begin = row * length;
    const long long end = row < num_rows ? length : 0;
    double x_factor = 1, y_factor = 1;
    if constexpr (kIsSame<T, double>) {
      Products largest = {0, 0, 0};
      for (long long i = place.part; i < end; i += depth) {
        largest.xx = fmax(largest.xx, fabs(x[begin + i]));
        largest.yy = fmax(largest.yy, fabs(y[begin + i]));
      }
      largest = MergeParts(shared, largest, place, depth, [](Products a, Products b) {
        return Products{fmax(a.xx, b.xx), 0, fmax(a.yy, b.yy)};
      });
      x_factor = UnitFactor(largest.xx);
      y_factor = UnitFactor(largest.yy);
    }
    Products sums = {0, 0, 0};
#pragma unroll 4
    for (long long i = place.part; i < end; i += depth) {
      const double a = static_cast<double>(Element<T>::Load(x[begin + i])) * x_factor;
      const double b = static_cast<double>(Element<T>::Load(y[begin + i])) * y_factor;
      sums.xx += a * a;
      sums.xy += a * b;
      sums.yy += b * b;
    }
    sums = MergeParts(shared, sums, place, depth, [](Products a, Products b) {
      return Products{a.xx + b.xx, a.xy + b.xy, a.yy + b.yy};
    });
    if (place.part == 0 && row < num_rows) {
      double cosine =
          sums.xx == 0 || sums.yy == 0 ? 0 * sums.xy : sums.xy / (sqrt(sums.xx) * sqrt(sums.yy));
      cosine = cosine < -1 ? -1 : cosine > 1 ? 1 : cosine;
      using Compute = ComputeType<T>;
      z[row] = Element<T>::Store(static_cast<Compute>(scale) * static_cast<Compute>(cosine));
    }
  }
}

struct CosSimState : CallState {
  int64_t num_rows = 0;
  int64_t length = 0;
  int depth = 1;
};

class CosSimOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Floats(), x.dtype, *this)) return error;
    auto state = std::make_shared<CosSimState>();
    state->num_rows = context.outputs()[0].num_elements();
    state->length = x.sizes.back();
    state->depth = ThreadsPerRow(state->length);
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const CosSimState& state = *context.state<CosSimState>();
    if (state.num_rows == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &CosSimKernel<T>,
                    GridFor(context, state.num_rows, kBlockThreads / state.depth),
                    dim3(kBlockThreads), state.num_rows, state.length, state.depth, scale_,
                    static_cast<const T*>(inputs[0]->raw()),
                    static_cast<const T*>(inputs[1]->raw()), static_cast<T*>(outputs[0]->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    return attributes.Get("scale", &scale_);
  }

 private:
  double scale_ = 1;
};

}  // namespace

void AddSoftmaxKernels(OpRegistry& registry) {
  registry.AddKernel("softmax", DeviceKind::kCUDA, &CreateKernel<SoftmaxOp<false>>);
  registry.AddKernel("log_softmax", DeviceKind::kCUDA, &CreateKernel<SoftmaxOp<true>>);
  registry.AddKernel("cos_sim", DeviceKind::kCUDA, &CreateKernel<CosSimOp>);
}

}  // namespace pdl::cuda
