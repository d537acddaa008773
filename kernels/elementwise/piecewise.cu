#include "kernels/elementwise/binary.cuh"
#include "kernels/elementwise/unary.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

template <class T>
__device__ __forceinline__ T UnitClip(T x) {
  return x < T(0) ? T(0) : x > T(1) ? T(1) : x;
}

struct HardSigmoid {
  double alpha, beta;
  void Initialize(const AttributeReader& attributes) {
    alpha = attributes.Float("alpha");
    beta = attributes.Float("beta");
  }
  template <class T>
  __device__ T operator()(T x) const {
    return UnitClip(static_cast<T>(alpha) * x + static_cast<T>(beta));
  }
};

struct HardSwish {
  template <class T>
  __device__ T operator()(T x) const {
    const T bounded = x < T(-3) ? T(-3) : x;
    return bounded * UnitClip(bounded * T(1.0 / 6.0) + T(0.5));
  }
};

struct ThresholdedRelu {
  double alpha;
  void Initialize(const AttributeReader& attributes) { alpha = attributes.Float("alpha"); }
  template <class T>
  __device__ T operator()(T x) const {
    return x <= static_cast<T>(alpha) ? T(0) : x;
  }
};

struct Shrink {
  double threshold, bias;
  void Initialize(const AttributeReader& attributes) {
    threshold = attributes.Float("threshold");
    bias = attributes.Float("bias");
  }
  template <class T>
  __device__ T operator()(T x) const {
    const T limit = static_cast<T>(threshold);
    if (x > limit) return x - static_cast<T>(bias);
    if (x < -limit) return x + static_cast<T>(bias);
    return x == x ? T(0) : x;
  }
};

struct Prelu {
  template <class T>
  __device__ T operator()(T x, T slope) const {
    return x < T(0) ? slope * x : x;
  }
};

template <class F>
void AddPiecewise(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<UnaryOp<F, Floats>>);
}

}  // namespace

void AddPiecewiseKernels(OpRegistry& registry) {
  AddPiecewise<HardSigmoid>(registry, "hard_sigmoid");
  AddPiecewise<HardSwish>(registry, "hard_swish");
  AddPiecewise<ThresholdedRelu>(registry, "thresholded_relu");
  AddPiecewise<Shrink>(registry, "shrink");
  registry.AddKernel("prelu", DeviceKind::kCUDA, &CreateKernel<BinaryOp<Prelu, Floats>>);
}

}  // namespace pdl::cuda
