// The CUDA kernels of libpdl's operators, family by family.
#ifndef PDL_KERNELS_CUDA_OPS_H_
#define PDL_KERNELS_CUDA_OPS_H_

#include "pdl/op_registry.h"

namespace pdl::cuda {

/// Adds every CUDA kernel to the operators of `registry`, which must hold libpdl's.
void AddAllKernels(OpRegistry& registry);

// One for each family.
void AddUnaryKernels(OpRegistry& registry);
void AddTranscendentalKernels(OpRegistry& registry);
void AddPiecewiseKernels(OpRegistry& registry);
void AddBitwiseKernels(OpRegistry& registry);
void AddActivationKernels(OpRegistry& registry);
void AddBinaryKernels(OpRegistry& registry);
void AddNaryKernels(OpRegistry& registry);
void AddComparisonKernels(OpRegistry& registry);
void AddMatmulKernels(OpRegistry& registry);
void AddReductionKernels(OpRegistry& registry);
void AddScanKernels(OpRegistry& registry);
void AddBlockScanKernels(OpRegistry& registry);
void AddDataSizeKernels(OpRegistry& registry);
void AddSegmentKernels(OpRegistry& registry);
void AddSegmentPoolKernels(OpRegistry& registry);
void AddSparseKernels(OpRegistry& registry);
void AddSoftmaxKernels(OpRegistry& registry);
void AddNormalizationKernels(OpRegistry& registry);
void AddLossKernels(OpRegistry& registry);
void AddPointwiseLossKernels(OpRegistry& registry);
void AddShapeKernels(OpRegistry& registry);
void AddSliceKernels(OpRegistry& registry);
void AddGatherKernels(OpRegistry& registry);
void AddPadKernels(OpRegistry& registry);
void AddDiagonalKernels(OpRegistry& registry);
void AddGatherNdKernels(OpRegistry& registry);
void AddScatterKernels(OpRegistry& registry);
void AddWriteKernels(OpRegistry& registry);
void AddSortKernels(OpRegistry& registry);
void AddAttentionKernels(OpRegistry& registry);
void AddRotaryKernels(OpRegistry& registry);
void AddCastKernels(OpRegistry& registry);
void AddQuantizeKernels(OpRegistry& registry);
void AddConstantKernels(OpRegistry& registry);
void AddRandomKernels(OpRegistry& registry);
void AddRandomChoiceKernels(OpRegistry& registry);
void AddOrthogonalKernels(OpRegistry& registry);
void AddConvolutionKernels(OpRegistry& registry);
void AddUnfoldKernels(OpRegistry& registry);
void AddPoolingKernels(OpRegistry& registry);
void AddUnpoolKernels(OpRegistry& registry);
void AddResizeKernels(OpRegistry& registry);

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_OPS_H_
