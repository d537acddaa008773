#include <cmath>
#include <limits>

#include "kernels/elementwise/unary.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// x times the cumulative standard normal distribution at x, or its approximation by a sigmoid.
struct Gelu {
  bool approximate;
  void Initialize(const AttributeReader& attributes) {
    approximate = attributes.Bool("approximate");
  }
  __device__ float operator()(float x) const {
    if (approximate) {
      const float bounded = x < -30.0f ? -30.0f : x;
      const float y = bounded * (1.5957691216f + 0.0713548163f * (bounded * bounded));
      return bounded * Sigmoid()(y);
    }
    const float bounded = x < -15.0f ? -15.0f : x;
    // erfc is so steep that the rounding error of its argument must be compensated.
    const float z = bounded * -0.70710678f;
    const float lost = fmaf(bounded, -0.70710678f, -z) - bounded * 1.21016171e-8f;
    const float tail = erfcf(z);
    return bounded * (0.5f * (z > 0.0f ? tail - 2.0f * z * lost * tail : tail));
  }
  __device__ double operator()(double x) const {
    if (approximate) {
      const double bounded = x < -30 ? -30 : x;
      const double y = bounded * (1.5957691216057308 + 0.07135481627260025 * (bounded * bounded));
      return bounded * Sigmoid()(y);
    }
    const double bounded = x < -40 ? -40 : x;
    return bounded * (0.5 * erfc(bounded * -0.70710678118654752));
  }
};

/// x * sigmoid(x); -0 at negative infinity.
struct Silu {
  __device__ float operator()(float x) const {
    if (!(x < -80.0f)) return x * Sigmoid()(x);
    // The sigmoid is exp(x), which must not underflow before it is multiplied by x.
    const float bounded = x < -110.0f ? -110.0f : x;
    const float root = expf(0.5f * bounded);
    return bounded * root * root;
  }
  __device__ double operator()(double x) const { return (x < -800 ? -800 : x) * Sigmoid()(x); }
};

/// log(1 + exp(x)).
struct Softplus {
  __device__ float operator()(float x) const {
    return (x > 0 ? x : 0.0f) + log1pf(expf(-fabsf(x)));
  }
  __device__ double operator()(double x) const { return (x > 0 ? x : 0.0) + log1p(exp(-fabs(x))); }
};

struct LeakyRelu {
  double alpha;
  void Initialize(const AttributeReader& attributes) { alpha = attributes.Float("alpha"); }
  template <class T>
  __device__ T operator()(T x) const {
    return x < T(0) ? static_cast<T>(alpha) * x : x;
  }
};

struct Elu {
  double alpha;
  void Initialize(const AttributeReader& attributes) { alpha = attributes.Float("alpha"); }
  __device__ float operator()(float x) const {
    return x > 0 ? x : static_cast<float>(alpha) * expm1f(x);
  }
  __device__ double operator()(double x) const { return x > 0 ? x : alpha * expm1(x); }
};

struct LogSigmoid {
  template <class T>
  __device__ T operator()(T x) const {
    return -Softplus()(-x);
  }
};

/// x * tanh(log(1 + exp(x))); -0 at negative infinity.
struct Mish {
  __device__ float operator()(float x) const {
    // In double, so that neither exp(x) nor its square underflows before the result does.
    const double bounded = x < -150.0f ? -150.0f : x;
    return static_cast<float>(Of(bounded));
  }
  __device__ double operator()(double x) const { return Of(x < -800 ? -800 : x); }

 private:
  static __device__ double Of(double x) {
    const double e = exp(x > 40 ? 40 : x);
    const double n = e * (e + 2);
    return x * (n / (n + 2));
  }
};

/// x / (1 + |x|); 1 or -1 where x is infinite.
struct Softsign {
  template <class T>
  __device__ T operator()(T x) const {
    const T magnitude = x < T(0) ? -x : x;
    if (x == x && magnitude - magnitude != T(0)) return x < T(0) ? T(-1) : T(1);
    return x / (T(1) + magnitude);
  }
};

struct Selu {
  static constexpr double kScale = 1.0507009873554805, kAlpha = 1.6732632423543773;
  __device__ float operator()(float x) const {
    return x > 0 ? static_cast<float>(kScale) * x : static_cast<float>(kScale * kAlpha) * expm1f(x);
  }
  __device__ double operator()(double x) const {
    return x > 0 ? kScale * x : kScale * kAlpha * expm1(x);
  }
};

struct Celu {
  double alpha;
  void Initialize(const AttributeReader& attributes) { alpha = attributes.Float("alpha"); }
  __device__ float operator()(float x) const {
    const float a = static_cast<float>(alpha);
    return x > 0 ? x : a * expm1f(x / a);
  }
  __device__ double operator()(double x) const { return x > 0 ? x : alpha * expm1(x / alpha); }
};

/// Clips to [low, high]; NaN stays NaN.
template <class T>
struct Clip {
  T low, high;
  __device__ T operator()(T x) const {
    x = x < low ? low : x;
    return x > high ? high : x;
  }
};

/// The representable number of type T that is nearest to `value`.
template <class T>
T Bound(double x) {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(x);
  } else {
    constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    if (x <= static_cast<double>(kLeast)) return kLeast;
    return x >= static_cast<double>(kMost) ? kMost : static_cast<T>(x);
  }
}

class ClipOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Numbers(), context.inputs()[0].dtype, *this)) return error;
    Preparation preparation;
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return VisitDType(Numbers(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using Compute = ComputeType<T>;
      constexpr bool kReal = kIsFloat<Compute>;
      const Clip<Compute> clip = {Bound<Compute>(kReal ? low_ : std::ceil(low_)),
                                  Bound<Compute>(kReal ? high_ : std::floor(high_))};
      return LaunchUnary<T, T>(context, type().c_str(), clip, *inputs[0], *outputs[0]);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if (attributes.Has("low")) low_ = attributes.Float("low");
    if (attributes.Has("high")) high_ = attributes.Float("high");
    return llvm::Error::success();
  }

 private:
  double low_ = -std::numeric_limits<double>::infinity();
  double high_ = std::numeric_limits<double>::infinity();
};

template <class F>
void AddActivation(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<UnaryOp<F, Floats>>);
}

}  // namespace

void AddActivationKernels(OpRegistry& registry) {
  AddActivation<Gelu>(registry, "gelu");
  AddActivation<Silu>(registry, "silu");
  AddActivation<Softplus>(registry, "softplus");
  AddActivation<LogSigmoid>(registry, "log_sigmoid");
  AddActivation<Mish>(registry, "mish");
  AddActivation<Softsign>(registry, "softsign");
  AddActivation<LeakyRelu>(registry, "leaky_relu");
  AddActivation<Elu>(registry, "elu");
  AddActivation<Selu>(registry, "selu");
  AddActivation<Celu>(registry, "celu");
  registry.AddKernel("clip", DeviceKind::kCUDA, &CreateKernel<ClipOp>);
}

}  // namespace pdl::cuda
