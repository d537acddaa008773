#include "kernels/binary.cuh"
#include "kernels/cuda_ops.h"

namespace pdl::cuda {
namespace {

template <class F, class Types>
void AddBinary(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<BinaryOp<F, Types>>);
}

}  // namespace

void AddBinaryKernels(OpRegistry& registry) {
  AddBinary<Add, Numbers>(registry, "add");
  AddBinary<Sub, Numbers>(registry, "sub");
  AddBinary<Mul, Numbers>(registry, "mul");
  AddBinary<Div, Floats>(registry, "div");
  AddBinary<Maximum, Numbers>(registry, "maximum");
  AddBinary<Minimum, Numbers>(registry, "minimum");
  AddBinary<Pow, Numbers>(registry, "pow");
  AddBinary<FloorDiv, Numbers>(registry, "floor_div");
  AddBinary<Mod, Numbers>(registry, "mod");
  AddBinary<Fmod, Numbers>(registry, "fmod");
}

}  // namespace pdl::cuda
