#include "kernels/unary.cuh"

#include "kernels/cuda_ops.h"

namespace pdl::cuda {
namespace {

template <class F, class Types>
void AddUnary(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<UnaryOp<F, Types>>);
}

}  // namespace

void AddUnaryKernels(OpRegistry& registry) {
  AddUnary<Cos, Floats>(registry, "cos");
  AddUnary<Sin, Floats>(registry, "sin");
  AddUnary<Exp, Floats>(registry, "exp");
  AddUnary<Log, Floats>(registry, "log");
  AddUnary<Sqrt, Floats>(registry, "sqrt");
  AddUnary<Tanh, Floats>(registry, "tanh");
  AddUnary<Sigmoid, Floats>(registry, "sigmoid");
  AddUnary<Relu, Numbers>(registry, "relu");
  AddUnary<Neg, Numbers>(registry, "neg");
  AddUnary<Abs, Numbers>(registry, "abs");
  AddUnary<Square, Numbers>(registry, "square");
  AddUnary<Erf, Floats>(registry, "erf");
  AddUnary<Reciprocal, Floats>(registry, "reciprocal");
  AddUnary<Rsqrt, Floats>(registry, "rsqrt");
  AddUnary<Sign, Numbers>(registry, "sign");
  AddUnary<Floor, Floats>(registry, "floor");
  AddUnary<Ceil, Floats>(registry, "ceil");
  AddUnary<Trunc, Floats>(registry, "trunc");
  AddUnary<Round, Floats>(registry, "round");
}

}  // namespace pdl::cuda
