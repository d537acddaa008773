// The list of the built-in operators.
#ifndef PDL_KERNELS_ALL_OPS_H_
#define PDL_KERNELS_ALL_OPS_H_

#include "pdl/op_registry.h"

namespace pdl {

/// Adds every built-in operator, with its CPU kernel.
void RegisterAllOps(OpRegistry& registry);

// One for each family.
void RegisterUnaryOps(OpRegistry& registry);
void RegisterTranscendentalOps(OpRegistry& registry);
void RegisterPiecewiseOps(OpRegistry& registry);
void RegisterBitwiseOps(OpRegistry& registry);
void RegisterActivationOps(OpRegistry& registry);
void RegisterBinaryOps(OpRegistry& registry);
void RegisterNaryOps(OpRegistry& registry);
void RegisterComparisonOps(OpRegistry& registry);
void RegisterMatmulOps(OpRegistry& registry);
void RegisterEinsumOps(OpRegistry& registry);
void RegisterReductionOps(OpRegistry& registry);
void RegisterArgExtremeOps(OpRegistry& registry);
void RegisterVarianceOps(OpRegistry& registry);
void RegisterScanOps(OpRegistry& registry);
void RegisterBlockScanOps(OpRegistry& registry);
void RegisterDataSizeOps(OpRegistry& registry);
void RegisterSegmentOps(OpRegistry& registry);
void RegisterSegmentPoolOps(OpRegistry& registry);
void RegisterSequenceOps(OpRegistry& registry);
void RegisterSequenceRowsOps(OpRegistry& registry);
void RegisterSequenceMakers(OpRegistry& registry);
void RegisterSparseOps(OpRegistry& registry);
void RegisterSoftmaxOps(OpRegistry& registry);
void RegisterNormalizationOps(OpRegistry& registry);
void RegisterStandardizeOps(OpRegistry& registry);
void RegisterLossOps(OpRegistry& registry);
void RegisterPointwiseLossOps(OpRegistry& registry);
void RegisterShapeOps(OpRegistry& registry);
void RegisterSliceOps(OpRegistry& registry);
void RegisterGatherOps(OpRegistry& registry);
void RegisterPadOps(OpRegistry& registry);
void RegisterDiagonalOps(OpRegistry& registry);
void RegisterGatherNdOps(OpRegistry& registry);
void RegisterScatterOps(OpRegistry& registry);
void RegisterWriteOps(OpRegistry& registry);
void RegisterSortOps(OpRegistry& registry);
void RegisterAttentionOps(OpRegistry& registry);
void RegisterRotaryOps(OpRegistry& registry);
void RegisterCastOps(OpRegistry& registry);
void RegisterQuantizeOps(OpRegistry& registry);
void RegisterConstantOps(OpRegistry& registry);
void RegisterRandomOps(OpRegistry& registry);
void RegisterRandomChoiceOps(OpRegistry& registry);
void RegisterOrthogonalOps(OpRegistry& registry);
void RegisterConvolutionOps(OpRegistry& registry);
void RegisterUnfoldOps(OpRegistry& registry);
void RegisterPoolingOps(OpRegistry& registry);
void RegisterResizeOps(OpRegistry& registry);
void RegisterUnpoolOps(OpRegistry& registry);
void RegisterDepthSpaceOps(OpRegistry& registry);
void RegisterPlanOps(OpRegistry& registry);
void RegisterDifferentiationOps(OpRegistry& registry);

}  // namespace pdl

#endif  // PDL_KERNELS_ALL_OPS_H_
