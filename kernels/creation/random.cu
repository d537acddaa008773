#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/creation/initial_range.h"
#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/half.h"
#include "pdl/op/op_registry.h"
#include "runtime/philox.h"

namespace pdl::cuda {
namespace {

/// Uniform numbers between low and high, clamped to [low, largest].
template <class Compute>
struct Uniform {
  Compute low, high, largest;

  __device__ Compute At(Compute unit) const {
    const Compute x = random::Between(low, high, unit);
    return x < low ? low : x > largest ? largest : x;
  }
  /// The numbers from a block of random words: four floats or two doubles.
  __device__ void Draw(const random::Words& words, float* out) const {
    out[0] = At(random::UnitFloat(words.w0));
    out[1] = At(random::UnitFloat(words.w1));
    out[2] = At(random::UnitFloat(words.w2));
    out[3] = At(random::UnitFloat(words.w3));
  }
  __device__ void Draw(const random::Words& words, double* out) const {
    out[0] = At(random::UnitDouble(words.w0, words.w1));
    out[1] = At(random::UnitDouble(words.w2, words.w3));
  }
};

/// Normal numbers by the Box-Muller transform: two at radius sqrt(-2 log u) and angle 2 pi v.
template <class Compute>
struct Normal {
  Compute mean, deviation;

  __device__ void Pair(unsigned a, unsigned b, float* out) const {
    const float u = (static_cast<float>(a >> 1) + 0.5f) * 0x1p-31f;
    const float radius = sqrtf(-2.0f * logf(u));
    float sine, cosine;
    sincospif(2.0f * random::UnitFloat(b), &sine, &cosine);
    out[0] = mean + deviation * (radius * cosine);
    out[1] = mean + deviation * (radius * sine);
  }
  __device__ void Draw(const random::Words& words, float* out) const {
    Pair(words.w0, words.w1, out);
    Pair(words.w2, words.w3, out + 2);
  }
  __device__ void Draw(const random::Words& words, double* out) const {
    const double u = random::UnitDouble(words.w0, words.w1) + 0x1p-54;
    const double radius = sqrt(-2.0 * log(u));
    double sine, cosine;
    sincospi(2.0 * random::UnitDouble(words.w2, words.w3), &sine, &cosine);
    out[0] = mean + deviation * (radius * cosine);
    out[1] = mean + deviation * (radius * sine);
  }
};

/// Normal numbers, truncated.
template <class Compute>
struct Truncated {
  double mean, deviation;
  random::TruncatedNormal standard;

  __device__ Compute Of(double x) const { return static_cast<Compute>(mean + deviation * x); }
  __device__ void Draw(const random::Words& words, float* out) const {
    out[0] = Of(standard.At(words.w0));
    out[1] = Of(standard.At(words.w1));
    out[2] = Of(standard.At(words.w2));
    out[3] = Of(standard.At(words.w3));
  }
  __device__ void Draw(const random::Words& words, double* out) const {
    out[0] = Of(standard.At(words.w0, words.w1));
    out[1] = Of(standard.At(words.w2, words.w3));
  }
};

template <class T>
inline constexpr int kNumbersPerBlock = sizeof(ComputeType<T>) == 8 ? 2 : 4;

template <class T, class Distribution>
__global__ void __launch_bounds__(kBlockThreads)
    RandomKernel(random::Stream stream, Distribution distribution, T* y, long long n) {
  constexpr int kCount = kNumbersPerBlock<T>;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long block = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; block * kCount < n; block += step) {
    ComputeType<T> numbers[kCount];
    distribution.Draw(random::Philox(stream, static_cast<uint64_t>(block)), numbers);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const long long i = block * kCount + k;
      if (i < n) y[i] = Element<T>::Store(numbers[k]);
    }
  }
}

/// The largest representable number below x.
template <class T>
T Below(T x) {
  return std::nextafter(x, -std::numeric_limits<T>::infinity());
}
template <class HalfType>
HalfType HalfBelow(HalfType x) {
  if ((x.bits & 0x7fff) == 0) {
    x.bits = 0x8001;
  } else {
    x.bits = static_cast<uint16_t>(x.bits + ((x.bits & 0x8000) != 0 ? 1 : -1));
  }
  return x;
}
inline float16 Below(float16 x) { return HalfBelow(x); }
inline bfloat16 Below(bfloat16 x) { return HalfBelow(x); }

/// The bounds of uniform numbers of type T (a CPU type): rounding must not reach `high`.
template <class T, class Compute>
Uniform<Compute> MakeUniform(double low, double high) {
  Uniform<Compute> uniform = {static_cast<Compute>(low), static_cast<Compute>(high), 0};
  T last = static_cast<T>(uniform.high);
  if (!(static_cast<double>(static_cast<Compute>(last)) < high)) last = Below(last);
  uniform.largest = std::max(static_cast<Compute>(last), uniform.low);
  return uniform;
}

/// The CPU type of an element.
template <class T>
struct OnCpu {
  using Type = T;
};
template <>
struct OnCpu<Half> {
  using Type = float16;
};
template <>
struct OnCpu<Bfloat> {
  using Type = bfloat16;
};

enum class Kind { kUniform, kNormal, kTruncated };

/// `Rule` returns the range for the sizes of a result: see initial_range.h.
template <Kind kKindOfNumbers, class Rule>
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
    const random::Range range = rule_.For(outputs[0]->sizes());
    const random::Stream stream =
        random::MakeStream(context.random().seed, context.random().run_count, stream_key());
    return VisitDType(Floats(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using Compute = ComputeType<T>;
      const auto launch = [&](auto distribution) {
        return Launch(context, type().c_str(), &RandomKernel<T, decltype(distribution)>,
                      GridFor(context, n, kBlockThreads * kNumbersPerBlock<T>), dim3(kBlockThreads),
                      stream, distribution, static_cast<T*>(outputs[0]->raw()), n);
      };
      if constexpr (kKindOfNumbers == Kind::kNormal) {
        return launch(
            Normal<Compute>{static_cast<Compute>(range.a), static_cast<Compute>(range.b)});
      } else if constexpr (kKindOfNumbers == Kind::kTruncated) {
        return launch(Truncated<Compute>{range.a, range.b, range.standard});
      } else {
        return launch(MakeUniform<typename OnCpu<T>::Type, Compute>(range.a, range.b));
      }
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    rule_.Initialize(attributes);
    return llvm::Error::success();
  }

 private:
  Rule rule_;
};

template <Kind kKindOfNumbers, class Rule>
void AddRandom(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<RandomOp<kKindOfNumbers, Rule>>);
}

}  // namespace

void AddRandomKernels(OpRegistry& registry) {
  using random::FixedRange;
  using random::WeightRange;
  AddRandom<Kind::kUniform, FixedRange<false>>(registry, "uniform");
  AddRandom<Kind::kNormal, FixedRange<true>>(registry, "normal");
  AddRandom<Kind::kTruncated, random::TruncatedRange>(registry, "truncated_normal");
  AddRandom<Kind::kUniform, WeightRange<true, false>>(registry, "xavier_uniform");
  AddRandom<Kind::kNormal, WeightRange<true, true>>(registry, "xavier_normal");
  AddRandom<Kind::kUniform, WeightRange<false, false>>(registry, "he_uniform");
  AddRandom<Kind::kNormal, WeightRange<false, true>>(registry, "he_normal");
}

}  // namespace pdl::cuda
