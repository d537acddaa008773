#include <cmath>
#include <limits>

#include "kernels/activation.cuh"
#include "kernels/cuda_ops.h"
#include "kernels/unary.cuh"

namespace pdl::cuda {
namespace {

/// At least `low` and at most `high`; NaN stays.
template <class T>
struct Clip {
  T low, high;
  __device__ T operator()(T x) const {
    x = x < low ? low : x;
    return x > high ? high : x;
  }
};

/// The nearest number that a T can hold.
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
