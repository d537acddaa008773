#include "kernels/cuda_ops.h"

namespace pdl::cuda {

void AddAllKernels(OpRegistry& registry) {
  AddUnaryKernels(registry);
  AddTranscendentalKernels(registry);
  AddPiecewiseKernels(registry);
  AddBitwiseKernels(registry);
  AddActivationKernels(registry);
  AddBinaryKernels(registry);
  AddNaryKernels(registry);
  AddComparisonKernels(registry);
  AddMatmulKernels(registry);
  AddReductionKernels(registry);
  AddScanKernels(registry);
  AddBlockScanKernels(registry);
  AddDataSizeKernels(registry);
  AddSegmentKernels(registry);
  AddSegmentPoolKernels(registry);
  AddSparseKernels(registry);
  AddSoftmaxKernels(registry);
  AddNormalizationKernels(registry);
  AddLossKernels(registry);
  AddPointwiseLossKernels(registry);
  AddShapeKernels(registry);
  AddSliceKernels(registry);
  AddGatherKernels(registry);
  AddPadKernels(registry);
  AddDiagonalKernels(registry);
  AddGatherNdKernels(registry);
  AddScatterKernels(registry);
  AddWriteKernels(registry);
  AddSortKernels(registry);
  AddAttentionKernels(registry);
  AddRotaryKernels(registry);
  AddCastKernels(registry);
  AddQuantizeKernels(registry);
  AddConstantKernels(registry);
  AddRandomKernels(registry);
  AddRandomChoiceKernels(registry);
  AddOrthogonalKernels(registry);
  AddConvolutionKernels(registry);
  AddUnfoldKernels(registry);
  AddPoolingKernels(registry);
  AddUnpoolKernels(registry);
  AddResizeKernels(registry);
}

}  // namespace pdl::cuda
