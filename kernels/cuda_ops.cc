#include "kernels/cuda_ops.h"

namespace pdl::cuda {

void AddAllKernels(OpRegistry& registry) {
  AddUnaryKernels(registry);
  AddBinaryKernels(registry);
  AddComparisonKernels(registry);
  AddMatmulKernels(registry);
  AddReductionKernels(registry);
  AddSoftmaxKernels(registry);
  AddShapeKernels(registry);
  AddSliceKernels(registry);
  AddCastKernels(registry);
  AddConstantKernels(registry);
  AddRandomKernels(registry);
}

}  // namespace pdl::cuda
