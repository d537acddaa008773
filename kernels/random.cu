#include "kernels/cuda_launch.h"
#include "kernels/cuda_ops.h"
#include "kernels/philox.h"

namespace pdl::cuda {
namespace {

/// Numbers of a distribution in [0, 1) (uniform), or around 0 (normal), `count` from each block.
template <class Compute>
struct BlockNumbers;

template <>
struct BlockNumbers<float> {
  static constexpr int kCount = 4;
  static __device__ void Uniform(const PhiloxBlock& block, float* numbers) {
#pragma unroll
    for (int i = 0; i < 4; ++i) numbers[i] = UniformFloat(block, i);
  }
  static __device__ void Normal(const PhiloxBlock& block, float* numbers) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float radius = sqrtf(-2.0f * logf(RadiusFloat(block, i)));
      float sine, cosine;
      sincospif(2.0f * AngleFloat(block, i), &sine, &cosine);
      numbers[2 * i] = radius * cosine;
      numbers[2 * i + 1] = radius * sine;
    }
  }
};

template <>
struct BlockNumbers<double> {
  static constexpr int kCount = 2;
  static __device__ void Uniform(const PhiloxBlock& block, double* numbers) {
#pragma unroll
    for (int i = 0; i < 2; ++i) numbers[i] = UniformDouble(block, i);
  }
  static __device__ void Normal(const PhiloxBlock& block, double* numbers) {
    const double radius = sqrt(-2.0 * log(RadiusDouble(block)));
    double sine, cosine;
    sincospi(2.0 * AngleDouble(block), &sine, &cosine);
    numbers[0] = radius * cosine;
    numbers[1] = radius * sine;
  }
};

/// y = offset + factor * number.
template <class T, bool kNormal>
__global__ void __launch_bounds__(kBlockThreads)
    RandomKernel(RandomStream stream, double offset, double factor, T* y, long long n) {
  using Compute = ComputeType<T>;
  using Numbers = BlockNumbers<Compute>;
  constexpr int kCount = Numbers::kCount;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long number = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; number * kCount < n; number += step) {
    Compute numbers[kCount];
    const PhiloxBlock block = stream.Block(static_cast<uint64_t>(number));
    if constexpr (kNormal) {
      Numbers::Normal(block, numbers);
    } else {
      Numbers::Uniform(block, numbers);
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const long long i = number * kCount + k;
      if (i < n)
        y[i] = Element<T>::Store(static_cast<Compute>(offset) +
                                 static_cast<Compute>(factor) * numbers[k]);
    }
  }
}

template <bool kNormal>
class RandomOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Floats(), context.outputs()[0].dtype, *this)) return error;
    return Preparation();
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const RandomStream stream(context.random().seed, context.random().run_count, stream_key());
    return VisitDType(Floats(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      constexpr int kCount = BlockNumbers<ComputeType<T>>::kCount;
      return Launch(context, type().c_str(), &RandomKernel<T, kNormal>,
                    GridFor(context, n, kBlockThreads * kCount), dim3(kBlockThreads), stream,
                    offset_, factor_, static_cast<T*>(outputs[0]->raw()), n);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if constexpr (kNormal) {
      offset_ = attributes.Float("mean");
      factor_ = attributes.Float("std");
    } else {
      offset_ = attributes.Float("low");
      factor_ = attributes.Float("high") - offset_;
    }
    return llvm::Error::success();
  }

 private:
  double offset_ = 0;
  double factor_ = 1;
};

}  // namespace

void AddRandomKernels(OpRegistry& registry) {
  registry.AddKernel("uniform", DeviceKind::kCUDA, &CreateKernel<RandomOp<false>>);
  registry.AddKernel("normal", DeviceKind::kCUDA, &CreateKernel<RandomOp<true>>);
}

}  // namespace pdl::cuda
