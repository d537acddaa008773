#include "kernels/transcendental.cuh"

#include "kernels/binary.cuh"
#include "kernels/cuda_ops.h"
#include "kernels/unary.cuh"

namespace pdl::cuda {
namespace {

template <class F>
void AddFunction(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<UnaryOp<F, Floats>>);
}

}  // namespace

void AddTranscendentalKernels(OpRegistry& registry) {
  AddFunction<Tan>(registry, "tan");
  AddFunction<Asin>(registry, "asin");
  AddFunction<Acos>(registry, "acos");
  AddFunction<Atan>(registry, "atan");
  AddFunction<Sinh>(registry, "sinh");
  AddFunction<Cosh>(registry, "cosh");
  AddFunction<Asinh>(registry, "asinh");
  AddFunction<Acosh>(registry, "acosh");
  AddFunction<Atanh>(registry, "atanh");
  AddFunction<Exp2>(registry, "exp2");
  AddFunction<Expm1>(registry, "expm1");
  AddFunction<Log2>(registry, "log2");
  AddFunction<Log10>(registry, "log10");
  AddFunction<Log1p>(registry, "log1p");
  AddFunction<Cbrt>(registry, "cbrt");
  AddFunction<Erfc>(registry, "erfc");
  registry.AddKernel("atan2", DeviceKind::kCUDA, &CreateKernel<BinaryOp<Atan2, Floats>>);
  registry.AddKernel("hypot", DeviceKind::kCUDA, &CreateKernel<BinaryOp<Hypot, Floats>>);
}

}  // namespace pdl::cuda
