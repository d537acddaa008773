#include "kernels/binary.cuh"
#include "kernels/cuda_ops.h"
#include "kernels/unary.cuh"

namespace pdl::cuda {
namespace {

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
