#include "kernels/elementwise/binary.cuh"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

/// For probabilities, with logarithms clamped to at least -100, or for logits.
struct BinaryCrossEntropy {
  bool logits;
  void Initialize(const AttributeReader& attributes) { logits = attributes.Bool("logits"); }
  __device__ float operator()(float p, float label) const {
    if (logits) return Linear(p, fabsf(p), label) + log1pf(expf(-fabsf(p)));
    return -(label * Bounded(logf(p)) + (1.0f - label) * Bounded(log1pf(-p)));
  }
  __device__ double operator()(double p, double label) const {
    if (logits) return Linear(p, fabs(p), label) + log1p(exp(-fabs(p)));
    return -(label * Bounded(log(p)) + (1.0 - label) * Bounded(log1p(-p)));
  }

 private:
  template <class T>
  static __device__ T Bounded(T x) {
    return x < T(-100) ? T(-100) : x;
  }
  // The factor of |x| in the loss; if the label makes it 0, infinite logits do not contribute
  // either.
  template <class T>
  static __device__ T Linear(T x, T magnitude, T label) {
    const T part = x > T(0) ? T(1) - label : label;
    return part == T(0) ? T(0) : magnitude * part;
  }
};

struct Huber {
  double delta;
  void Initialize(const AttributeReader& attributes) { delta = attributes.Float("delta"); }
  template <class T>
  __device__ T operator()(T x, T y) const {
    const T limit = static_cast<T>(delta);
    const T distance = x < y ? y - x : x - y;
    return distance <= limit ? T(0.5) * distance * distance : limit * (distance - T(0.5) * limit);
  }
};

struct Hinge {
  double margin;
  void Initialize(const AttributeReader& attributes) { margin = attributes.Float("margin"); }
  template <class T>
  __device__ T operator()(T x, T label) const {
    const T missing = static_cast<T>(margin) - x * label;
    return missing < T(0) ? T(0) : missing;
  }
};

/// 0 where the target is 0.
struct KlDiv {
  bool log_target;
  void Initialize(const AttributeReader& attributes) { log_target = attributes.Bool("log_target"); }
  __device__ float operator()(float log_q, float target) const {
    return log_target ? Of(expf(target), target, log_q) : Of(target, logf(target), log_q);
  }
  __device__ double operator()(double log_q, double target) const {
    return log_target ? Of(exp(target), target, log_q) : Of(target, log(target), log_q);
  }

 private:
  template <class T>
  static __device__ T Of(T p, T log_p, T log_q) {
    return p == T(0) ? T(0) : p * (log_p - log_q);
  }
};

template <class F>
void AddLoss(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<BinaryOp<F, Floats>>);
}

}  // namespace

void AddPointwiseLossKernels(OpRegistry& registry) {
  AddLoss<BinaryCrossEntropy>(registry, "binary_cross_entropy");
  AddLoss<Huber>(registry, "huber");
  AddLoss<Hinge>(registry, "hinge");
  AddLoss<KlDiv>(registry, "kl_div");
}

}  // namespace pdl::cuda
