#include "kernels/cuda/cuda_launch.h"
#include "kernels/sequence/segment.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

__device__ __forceinline__ float Exponential(float x) { return expf(x); }
__device__ __forceinline__ double Exponential(double x) { return exp(x); }
__device__ __forceinline__ float Root(float x) { return sqrtf(x); }
__device__ __forceinline__ double Root(double x) { return sqrt(x); }

enum class Pool { kSum, kMean, kSqrt, kMax, kMin, kFirst, kLast };

/// Each thread reduces the rows of one segment, for one column.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SegmentPoolKernel(long long n, long long columns, long long rows, long long segments, Pool pool,
                      double empty, const T* x, const long long* offsets, T* y) {
  using C = ComputeType<T>;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long segment = i / columns, column = i - segment * columns;
    const Range range = RangeOf(offsets, segments, segment, rows);
    if (range.begin == range.end) {
      y[i] = Element<T>::Store(static_cast<C>(empty));
      continue;
    }
    const long long first = pool == Pool::kLast ? range.end - 1 : range.begin;
    C result = Element<T>::Load(x[first * columns + column]);
    if (pool != Pool::kFirst && pool != Pool::kLast) {
      for (long long row = range.begin + 1; row < range.end; ++row) {
        const C value = Element<T>::Load(x[row * columns + column]);
        if (pool == Pool::kMax) {
          result = value > result || value != value ? value : result;
        } else if (pool == Pool::kMin) {
          result = value < result || value != value ? value : result;
        } else {
          result += value;
        }
      }
    }
    const C count = static_cast<C>(range.end - range.begin);
    if (pool == Pool::kMean) result /= count;
    if (pool == Pool::kSqrt) result /= Root(count);
    y[i] = Element<T>::Store(result);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SegmentSoftmaxKernel(long long n, long long columns, long long rows, long long segments,
                         const T* x, const long long* offsets, T* y) {
  using C = ComputeType<T>;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long segment = i / columns, column = i - segment * columns;
    const Range range = RangeOf(offsets, segments, segment, rows);
    if (range.begin == range.end) continue;
    C largest = Element<T>::Load(x[range.begin * columns + column]);
    for (long long row = range.begin + 1; row < range.end; ++row) {
      const C value = Element<T>::Load(x[row * columns + column]);
      largest = value > largest || value != value ? value : largest;
    }
    C sum = 0;
    for (long long row = range.begin; row < range.end; ++row)
      sum += Exponential(Element<T>::Load(x[row * columns + column]) - largest);
    for (long long row = range.begin; row < range.end; ++row)
      y[row * columns + column] = Element<T>::Store(
          Exponential(Element<T>::Load(x[row * columns + column]) - largest) / sum);
  }
}

Pool PoolFromName(llvm::StringRef name) {
  return name == "sum"     ? Pool::kSum
         : name == "mean"  ? Pool::kMean
         : name == "sqrt"  ? Pool::kSqrt
         : name == "max"   ? Pool::kMax
         : name == "min"   ? Pool::kMin
         : name == "first" ? Pool::kFirst
                           : Pool::kLast;
}

long long Columns(const Tensor& x) {
  long long columns = 1;
  for (const int64_t size : x.sizes().drop_front()) columns *= size;
  return columns;
}

class SegmentPoolOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Floats(), context.inputs()[0].dtype, *this)) return error;
    return Preparation();
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return VisitDType(Floats(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &SegmentPoolKernel<T>, GridFor(context, n),
                    dim3(kBlockThreads), n, Columns(*inputs[0]), inputs[0]->size(0),
                    outputs[0]->size(0), PoolFromName(attributes().String("kind")),
                    attributes().Float("empty"), static_cast<const T*>(inputs[0]->raw()),
                    static_cast<const long long*>(inputs[1]->raw()),
                    static_cast<T*>(outputs[0]->raw()));
    });
  }
};

class SegmentSoftmaxOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Floats(), context.inputs()[0].dtype, *this)) return error;
    return Preparation();
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t segments = inputs[1]->num_elements() - 1;
    const int64_t n = segments * Columns(*inputs[0]);
    if (n == 0 || outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(Floats(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &SegmentSoftmaxKernel<T>, GridFor(context, n),
                    dim3(kBlockThreads), n, Columns(*inputs[0]), inputs[0]->size(0), segments,
                    static_cast<const T*>(inputs[0]->raw()),
                    static_cast<const long long*>(inputs[1]->raw()),
                    static_cast<T*>(outputs[0]->raw()));
    });
  }
};

}  // namespace

void AddSegmentPoolKernels(OpRegistry& registry) {
  registry.AddKernel("segment_pool", DeviceKind::kCUDA, &CreateKernel<SegmentPoolOp>);
  registry.AddKernel("segment_softmax", DeviceKind::kCUDA, &CreateKernel<SegmentSoftmaxOp>);
}

}  // namespace pdl::cuda
