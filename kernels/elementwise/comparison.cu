#include "kernels/elementwise/binary.cuh"
#include "kernels/elementwise/unary.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

struct IsNan {
  template <class T>
  __device__ bool operator()(T x) const {
    return x != x;
  }
};

struct IsInf {
  template <class T>
  __device__ bool operator()(T x) const {
    return x == x && x - x != T(0);
  }
};

struct IsFinite {
  template <class T>
  __device__ bool operator()(T x) const {
    return x - x == T(0);
  }
};

struct LogicalNot {
  __device__ bool operator()(bool x) const { return !x; }
};

struct Equal {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqual {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a != b;
  }
};

struct Less {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqual {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct LogicalAnd {
  __device__ bool operator()(bool a, bool b) const { return a && b; }
};

struct LogicalOr {
  __device__ bool operator()(bool a, bool b) const { return a || b; }
};

struct LogicalXor {
  __device__ bool operator()(bool a, bool b) const { return a != b; }
};

template <class F, class Types, bool kSwapped = false>
void AddComparison(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<BinaryOp<F, Types, true, kSwapped>>);
}

}  // namespace

void AddComparisonKernels(OpRegistry& registry) {
  AddComparison<Equal, AnyElement>(registry, "equal");
  AddComparison<NotEqual, AnyElement>(registry, "not_equal");
  AddComparison<Less, Numbers>(registry, "less");
  AddComparison<LessEqual, Numbers>(registry, "less_equal");
  AddComparison<Less, Numbers, true>(registry, "greater");
  AddComparison<LessEqual, Numbers, true>(registry, "greater_equal");
  AddComparison<LogicalAnd, Bools>(registry, "logical_and");
  AddComparison<LogicalOr, Bools>(registry, "logical_or");
  AddComparison<LogicalXor, Bools>(registry, "logical_xor");
  registry.AddKernel("logical_not", DeviceKind::kCUDA, &CreateKernel<UnaryOp<LogicalNot, Bools>>);
  registry.AddKernel("isnan", DeviceKind::kCUDA, &CreateKernel<UnaryOp<IsNan, Floats, bool>>);
  registry.AddKernel("isinf", DeviceKind::kCUDA, &CreateKernel<UnaryOp<IsInf, Floats, bool>>);
  registry.AddKernel("isfinite", DeviceKind::kCUDA, &CreateKernel<UnaryOp<IsFinite, Floats, bool>>);
}

}  // namespace pdl::cuda
