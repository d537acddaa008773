#include <memory>

#include "kernels/convolution/columns.cuh"
#include "kernels/convolution/pool_attributes.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

__device__ __forceinline__ float Power(float x, double p) { return powf(x, static_cast<float>(p)); }
__device__ __forceinline__ double Power(double x, double p) { return pow(x, p); }

template <class C>
struct MeanPolicy {
  __device__ C Load(C x) const { return x; }
  __device__ C Finish(C sum, int64_t divisor) const { return sum / static_cast<C>(divisor); }
};

template <class C>
struct NormPolicy {
  double p;
  __device__ C Load(C x) const {
    if (p == 2) return x * x;
    const C size = x < 0 ? -x : x;
    return p == 1 ? size : Power(size, p);
  }
  __device__ C Finish(C sum, int64_t) const {
    return p == 1 ? sum : Power(sum, p == 2 ? 0.5 : 1 / p);
  }
};

/// The ranges of one output.
struct Ranges {
  PoolRange d[3];

  __device__ __forceinline__ Ranges(const PoolWindow& pool, int64_t o) {
    const Place3 place(o, pool.d[1].window.out, pool.d[2].window.out);
    for (int i = 0; i < 3; ++i) d[i] = pool.d[i].At(place.at[i]);
  }
  /// Calls visit(index in the plane) for each element, in row-major order.
  template <class Visit>
  __device__ __forceinline__ void ForEach(const PoolWindow& pool, Visit visit) const {
    const int64_t height = pool.d[1].window.in, width = pool.d[2].window.in;
    for (int64_t p = 0; p < d[0].count; ++p) {
      for (int64_t q = 0; q < d[1].count; ++q) {
        const int64_t row =
            ((d[0].first + p * d[0].step) * height + d[1].first + q * d[1].step) * width;
        for (int64_t r = 0; r < d[2].count; ++r) visit(row + d[2].first + r * d[2].step);
      }
    }
  }
};

/// The maxima, or (if `indices` is not null) their indices.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    MaxPoolKernel(const __grid_constant__ PoolWindow pool, const T lowest, const T* x, T* y,
                  long long* indices) {
  using C = ComputeType<T>;
  const int64_t out = pool.out(), in = pool.in();
  for (int64_t i = ThreadNumber(); i < pool.planes * out; i += ThreadStep()) {
    const T* from = x + i / out * in;
    C largest = Element<T>::Load(lowest);
    int64_t place = -1;
    Ranges(pool, i % out).ForEach(pool, [&](int64_t at) {
      const C value = Element<T>::Load(from[at]);
      if (place >= 0 && !(value > largest) && value == value) return;
      place = at;
      largest = value;
    });
    if (indices != nullptr) {
      indices[i] = place;
      continue;
    }
    y[i] = Element<T>::Store(largest);
  }
}

template <class T, class Policy>
__global__ void __launch_bounds__(kBlockThreads)
    SumPoolKernel(const __grid_constant__ PoolWindow pool, const Policy policy, const T* x, T* y) {
  using C = ComputeType<T>;
  const int64_t out = pool.out(), in = pool.in();
  for (int64_t i = ThreadNumber(); i < pool.planes * out; i += ThreadStep()) {
    const T* from = x + i / out * in;
    const Ranges ranges(pool, i % out);
    C sum = 0;
    ranges.ForEach(pool, [&](int64_t at) { sum += policy.Load(Element<T>::Load(from[at])); });
    const int64_t divisor = pool.Divisor(ranges.d[0], ranges.d[1], ranges.d[2]);
    y[i] = Element<T>::Store(policy.Finish(sum, divisor));
  }
}

/// Each element of dx is the sum over the windows that it is in.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SpreadKernel(const __grid_constant__ PoolWindow pool, const T* dy, T* dx) {
  using C = ComputeType<T>;
  const int64_t out = pool.out(), in = pool.in();
  for (int64_t i = ThreadNumber(); i < pool.planes * in; i += ThreadStep()) {
    const Place3 place(i % in, pool.d[1].window.in, pool.d[2].window.in);
    const T* from = dy + i / in * out;
    C sum = 0;
    for (int64_t a = pool.d[0].FirstOutput(place.at[0]); a < pool.d[0].LastOutput(place.at[0]);
         ++a) {
      if (!pool.d[0].Covers(a, place.at[0])) continue;
      for (int64_t b = pool.d[1].FirstOutput(place.at[1]); b < pool.d[1].LastOutput(place.at[1]);
           ++b) {
        if (!pool.d[1].Covers(b, place.at[1])) continue;
        for (int64_t c = pool.d[2].FirstOutput(place.at[2]); c < pool.d[2].LastOutput(place.at[2]);
             ++c) {
          if (!pool.d[2].Covers(c, place.at[2])) continue;
          const int64_t o = (a * pool.d[1].window.out + b) * pool.d[2].window.out + c;
          const int64_t divisor = pool.Divisor(pool.d[0].At(a), pool.d[1].At(b), pool.d[2].At(c));
          sum += Element<T>::Load(from[o]) / static_cast<C>(divisor);
        }
      }
    }
    dx[i] = Element<T>::Store(sum);
  }
}

/// The identity of max: -inf, or the lowest integer.
template <class T>
T Lowest() {
  if constexpr (std::is_same_v<T, Half>) {
    return {0xfc00};
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return {0xff80};
  } else if constexpr (std::is_floating_point_v<T>) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

struct PoolState : CallState {
  PoolWindow pool;
};

enum class PoolKind { kMax, kIndex, kMean, kNorm, kSpread };

template <PoolKind kWhich, bool kAdaptive>
class PoolOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Types(), context.inputs()[0].dtype, *this)) return error;
    const OperandType& in = context.inputs()[0];
    const OperandType& out = context.outputs()[0];
    const bool is_spread = kWhich == PoolKind::kSpread;
    auto pool =
        EvaluatePool(context, attributes(), is_spread ? out : in, is_spread ? in : out, kAdaptive);
    if (!pool) return pool.takeError();
    auto state = std::make_shared<PoolState>();
    state->pool = *pool;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t count = outputs[0]->num_elements();
    if (count == 0) return llvm::Error::success();
    const PoolWindow& pool = context.state<PoolState>()->pool;
    const char* name = type().c_str();
    const dim3 grid = GridFor(context, count), block(kBlockThreads);
    return VisitDType(Types(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using C = ComputeType<T>;
      const T* x = static_cast<const T*>(inputs[0]->raw());
      void* result = outputs[0]->raw();
      if constexpr (kWhich == PoolKind::kMax || kWhich == PoolKind::kIndex) {
        constexpr bool kIndex = kWhich == PoolKind::kIndex;
        return Launch(context, name, &MaxPoolKernel<T>, grid, block, pool, Lowest<T>(), x,
                      kIndex ? nullptr : static_cast<T*>(result),
                      kIndex ? static_cast<long long*>(result) : nullptr);
      } else if constexpr (kWhich == PoolKind::kMean) {
        return Launch(context, name, &SumPoolKernel<T, MeanPolicy<C>>, grid, block, pool,
                      MeanPolicy<C>(), x, static_cast<T*>(result));
      } else if constexpr (kWhich == PoolKind::kNorm) {
        return Launch(context, name, &SumPoolKernel<T, NormPolicy<C>>, grid, block, pool,
                      NormPolicy<C>{attributes().Float("p")}, x, static_cast<T*>(result));
      } else {
        return Launch(context, name, &SpreadKernel<T>, grid, block, pool, x,
                      static_cast<T*>(result));
      }
    });
  }

 private:
  using Types =
      std::conditional_t<kWhich == PoolKind::kMax || kWhich == PoolKind::kIndex, Numbers, Floats>;
};

}  // namespace

void AddPoolingKernels(OpRegistry& registry) {
  const auto add = [&](const char* name, KernelCreator creator) {
    registry.AddKernel(name, DeviceKind::kCUDA, creator);
  };
  add("max_pool", &CreateKernel<PoolOp<PoolKind::kMax, false>>);
  add("max_pool_index", &CreateKernel<PoolOp<PoolKind::kIndex, false>>);
  add("avg_pool", &CreateKernel<PoolOp<PoolKind::kMean, false>>);
  add("avg_pool_grad", &CreateKernel<PoolOp<PoolKind::kSpread, false>>);
  add("lp_pool", &CreateKernel<PoolOp<PoolKind::kNorm, false>>);
  add("adaptive_max_pool", &CreateKernel<PoolOp<PoolKind::kMax, true>>);
  add("adaptive_max_pool_index", &CreateKernel<PoolOp<PoolKind::kIndex, true>>);
  add("adaptive_avg_pool", &CreateKernel<PoolOp<PoolKind::kMean, true>>);
  add("adaptive_avg_pool_grad", &CreateKernel<PoolOp<PoolKind::kSpread, true>>);
}

}  // namespace pdl::cuda
